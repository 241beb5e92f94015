package guide;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class Reports {

    @GetMapping("/api/reports")
    String reports() {
        return "report";
    }
}
