package guide;

// region backup
import dev.ratelimit.store.sqlite.Backups;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;

@Service
class NightlyBackup {

    private final Backups backups;

    NightlyBackup(Backups backups) {
        this.backups = backups;
    }

    @Scheduled(cron = "0 0 3 * * *")
    void write() {
        backups.create();
    }
}
// endregion
