package guide;

// region listener
import dev.ratelimit.DecisionListener;
import dev.ratelimit.RequestRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

@Component
class RejectionLog implements DecisionListener {

    private static final Logger log = LoggerFactory.getLogger(RejectionLog.class);

    @Override
    public void recorded(RequestRecord request) {
        if (!request.allowed()) {
            log.info("Rejected as {} by rule {}", request.outcome(), request.rule());
        }
    }
}
// endregion
