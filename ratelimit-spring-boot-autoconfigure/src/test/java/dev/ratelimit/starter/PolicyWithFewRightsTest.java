package dev.ratelimit.starter;

import java.util.List;

/** With the documented grants and no other rights, rules, quotas, API keys and changes work as always. */
class PolicyWithFewRightsTest extends PolicyRequests {

    private static final RestrictedRole ROLE =
            RestrictedRole.create().withTables().withGrants();

    @Override
    List<String> store() {
        return ROLE.settings("ratelimit.store.migrate=false", "ratelimit.changes.poll-interval=1h");
    }
}
