package guide;

// region alerts
import dev.ratelimit.event.PenaltyBegunEvent;
import dev.ratelimit.event.StoreLostEvent;
import dev.ratelimit.event.StoreRegainedEvent;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

@Component
class OnCallAlerts {

    private final List<String> messages = new CopyOnWriteArrayList<>();

    @EventListener
    void on(StoreLostEvent event) {
        messages.add("Rate limits are decided locally: " + event.reason());
    }

    @EventListener
    void on(StoreRegainedEvent event) {
        messages.add("Rate limits are back after " + event.unavailableFor().toSeconds() + " s");
    }

    @EventListener
    void on(PenaltyBegunEvent event) {
        messages.add(event.subject() + " is blocked by " + event.limit() + " until " + event.until());
    }

    List<String> messages() {
        return messages;
    }
}
// endregion
