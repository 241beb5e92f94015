package dev.ratelimit.support;

import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listeners that are called one after another. An exception of one of them is logged and reaches nobody. */
public final class Listeners<L> {

    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    private final List<L> all;

    public Listeners(List<? extends L> all) {
        this.all = List.copyOf(all);
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    public void tell(Consumer<L> news) {
        for (int i = 0; i < all.size(); i++) {
            try {
                news.accept(all.get(i));
            } catch (RuntimeException | Error e) {
                log.warn(
                        "Ignoring the failure of listener {}: {}",
                        all.get(i).getClass().getName(),
                        LogText.of(e.getMessage()),
                        LogText.trace(e));
            }
        }
    }
}
