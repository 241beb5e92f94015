package dev.ratelimit.data;

import java.util.List;
import org.springframework.data.repository.Repository;

/** The table {@code rate_limit_penalties}, which the stores write. */
public interface PenaltyRows extends Repository<PenaltyRow, String> {

    List<PenaltyRow> findByPenaltyUntilGreaterThanOrderByPenaltyUntilDesc(long now);
}
