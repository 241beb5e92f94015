package example.jpa;

import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class JpaApplication {

    private final Notes notes;

    JpaApplication(Notes notes) {
        this.notes = notes;
    }

    public static void main(String[] args) {
        SpringApplication.run(JpaApplication.class, args);
    }

    @GetMapping("/notes")
    List<String> all() {
        return notes.findAll().stream().map(Note::text).toList();
    }

    @PostMapping("/notes")
    void add(@RequestBody String text) {
        notes.save(new Note(text));
    }
}
