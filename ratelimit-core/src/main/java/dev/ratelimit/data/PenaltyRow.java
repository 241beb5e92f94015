package dev.ratelimit.data;

import dev.ratelimit.admin.PenaltyAdmin;
import dev.ratelimit.support.Micros;
import java.util.List;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.Repository;

/**
 * The violations of a subject ({@code userId}) on a limit ({@code resource}), which together are its key. Stores write
 * this table; here it is only read.
 */
@Table("rate_limit_penalties")
record PenaltyRow(@Id String userId, String resource, long violationCount, long lastViolationAt, long penaltyUntil) {

    PenaltyAdmin.Penalty penalty() {
        return new PenaltyAdmin.Penalty(
                userId, resource, violationCount, Micros.toInstant(lastViolationAt), Micros.toInstant(penaltyUntil));
    }

    interface Rows extends Repository<PenaltyRow, String> {

        List<PenaltyRow> findByPenaltyUntilGreaterThanOrderByPenaltyUntilDesc(long now);
    }
}
