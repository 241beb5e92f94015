package dev.ratelimit.data;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.springframework.data.repository.Repository;

/** The table {@code user_quotas}. */
public interface QuotaRows extends Repository<QuotaRow, String> {

    List<QuotaRow> findAllByOrderByUserId();

    List<QuotaRow> findByUserIdIn(Collection<String> users);

    Optional<QuotaRow> findByUserId(String user);

    void deleteById(String user);
}
