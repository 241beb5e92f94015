package dev.ratelimit.policy;

/** The condition of a rule that a request does not meet. */
enum Mismatch {
    METHOD,
    API_KEY,
    ADDRESS,
    PATH,
    TIER,
    AUTHORITY,
    CONDITION,
    /** There is no live request that the condition could be asked of. */
    UNKNOWN_CONDITION;

    /** Why the rule does not match, for people. */
    String explain(Rule rule, RequestFacts facts) {
        Conditions conditions = rule.conditions();
        Caller caller = facts.caller();
        return switch (this) {
            case METHOD -> "the method " + facts.method() + " is none of " + conditions.methods();
            case API_KEY -> {
                ApiKey key = facts.apiKey();
                yield (key == null ? "there is no API key" : "the API key " + key.name() + " is another")
                        + "; the rule is for " + conditions.apiKeys();
            }
            case ADDRESS -> "the address " + facts.address() + " lies in none of " + conditions.addresses();
            case PATH -> "the path " + facts.paths().get(0).value() + " does not match " + conditions.path();
            case TIER -> "the tier " + (caller == null ? null : caller.tier()) + " is none of " + conditions.tiers();
            case AUTHORITY ->
                "the authorities " + (caller == null ? null : caller.authorities()) + " have none of "
                        + conditions.authorities();
            case CONDITION -> "the condition " + conditions.expression() + " is not true";
            case UNKNOWN_CONDITION -> "its condition " + conditions.expression() + " cannot be known without a request";
        };
    }
}
