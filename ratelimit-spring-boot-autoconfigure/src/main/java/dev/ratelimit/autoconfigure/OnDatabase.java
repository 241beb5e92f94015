package dev.ratelimit.autoconfigure;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.context.annotation.Conditional;

/** Matches if there is a database of ours: a store in memory, and one of the application, have no tables for other things. */
final class OnDatabase extends AnyNestedCondition {

    /** Unless the application has a store of its own. */
    static final String OUR_STORE = "rateLimitStore";

    OnDatabase() {
        super(ConfigurationPhase.REGISTER_BEAN);
    }

    @ConditionalOnBean(name = OUR_STORE)
    @Conditional(NotInMemory.class)
    static final class OfCounts {}

    @ConditionalOnProperty(name = "ratelimit.policy.store", havingValue = "sqlite")
    static final class OnSqlite {}

    @ConditionalOnProperty(name = "ratelimit.policy.store", havingValue = "postgresql")
    static final class OnPostgres {}

    static final class NotInMemory extends NoneNestedConditions {

        NotInMemory() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty(name = "ratelimit.store.type", havingValue = "memory")
        static final class Memory {}
    }
}
