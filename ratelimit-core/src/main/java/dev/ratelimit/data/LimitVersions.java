package dev.ratelimit.data;

import java.util.List;
import org.springframework.data.repository.Repository;

/** The table {@code rate_limit_configs}. */
public interface LimitVersions extends Repository<LimitVersion, Long> {

    List<LimitVersion> findAllByOrderByResourceAscVersionDesc();

    /** The newest first. */
    List<LimitVersion> findByResourceOrderByVersionDesc(String resource);

    LimitVersion save(LimitVersion version);
}
