package example.jpa;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

@Entity
class Note {

    @Id
    @GeneratedValue
    private Long id;

    private String text;

    Note(String text) {
        this.text = text;
    }

    protected Note() {}

    Long id() {
        return id;
    }

    String text() {
        return text;
    }
}
