package dev.ratelimit.data;

import java.util.List;
import org.springframework.data.repository.Repository;

/** The table {@code rate_limit_rules}. */
public interface RuleVersions extends Repository<RuleVersion, Long> {

    List<RuleVersion> findAllByOrderByRuleNameAscVersionDesc();

    /** The newest first. */
    List<RuleVersion> findByRuleNameOrderByVersionDesc(String ruleName);

    RuleVersion save(RuleVersion version);
}
