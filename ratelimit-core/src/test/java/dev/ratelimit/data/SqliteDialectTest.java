package dev.ratelimit.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.annotation.Id;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;
import org.springframework.data.jdbc.core.JdbcAggregateTemplate;
import org.springframework.data.relational.core.mapping.Column;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.relational.core.query.Criteria;
import org.springframework.data.relational.core.query.Query;
import org.springframework.jdbc.core.JdbcTemplate;

class SqliteDialectTest {

    /** With a table and a column whose names are words of SQL. */
    @Table("order")
    record Order(@Id Long id, @Column("group") String group, boolean paid, Boolean sent, byte[] content, long amount) {}

    @TempDir
    Path folder;

    private JdbcAggregateTemplate rows;

    @BeforeEach
    void createTable() {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        Schema.migrate(file);
        PolicyDatabase database = PolicyDatabase.sqlite(file);
        rows = database.rows();
        new JdbcTemplate(database.dataSource()).execute("""
                CREATE TABLE "order" (id INTEGER PRIMARY KEY, "group" TEXT, paid INTEGER NOT NULL, sent INTEGER,
                                      content BLOB, amount INTEGER NOT NULL) STRICT
                """);
    }

    private Order inserted(String group, boolean paid) {
        return rows.insert(new Order(null, group, paid, null, null, 0));
    }

    @Test
    void theDatabaseGivesTheId() {
        assertThat(inserted("a", true).id()).isEqualTo(1);
        assertThat(inserted("b", true).id()).isEqualTo(2);
        assertThat(rows.findById(2L, Order.class).group()).isEqualTo("b");
    }

    @Test
    void severalAreInsertedWithIdsOfTheirOwn() {
        List<Order> inserted = rows.insertAll(
                List.of(new Order(null, "a", true, null, null, 0), new Order(null, "b", true, null, null, 0)));

        assertThat(inserted).extracting(Order::id).containsExactly(1L, 2L);
    }

    @Test
    void wordsOfSqlAreQuoted() {
        inserted("a", true);
        inserted("b", true);

        Query ofB = Query.query(Criteria.where("group").is("b"));
        assertThat(rows.findAll(ofB, Order.class)).extracting(Order::group).containsExactly("b");
    }

    @Test
    void pagesHaveTheirRows() {
        for (String group : List.of("a", "b", "c", "d", "e")) {
            inserted(group, true);
        }

        Sort descending = Sort.by("group").descending();
        assertThat(rows.findAll(Query.empty().with(PageRequest.of(1, 2, descending)), Order.class))
                .extracting(Order::group)
                .containsExactly("c", "b");
        assertThat(rows.findAll(Query.empty().sort(descending).offset(3), Order.class))
                .extracting(Order::group)
                .containsExactly("b", "a");
        assertThat(rows.findAll(Query.empty().sort(descending).limit(1), Order.class))
                .extracting(Order::group)
                .containsExactly("e");
    }

    @Test
    void booleansAreZeroAndOne() {
        Order written = rows.insert(new Order(null, "a", true, false, null, 0));
        Order unknown = rows.insert(new Order(null, "b", false, null, null, 0));

        assertThat(rows.findById(written.id(), Order.class).paid()).isTrue();
        assertThat(rows.findById(written.id(), Order.class).sent()).isFalse();
        assertThat(rows.findById(unknown.id(), Order.class).paid()).isFalse();
        assertThat(rows.findById(unknown.id(), Order.class).sent()).isNull();
        assertThat(rows.findAll(Query.query(Criteria.where("paid").isTrue()), Order.class))
                .extracting(Order::group)
                .containsExactly("a");
    }

    @Test
    void bytesAndLargeNumbersComeBackAsTheyWere() {
        byte[] content = "\u0000 é".getBytes(StandardCharsets.UTF_8);
        Order written = rows.insert(new Order(null, "a", true, null, content, Long.MAX_VALUE));

        Order read = rows.findById(written.id(), Order.class);
        assertThat(read.content()).isEqualTo(content);
        assertThat(read.amount()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void rowsAreUpdatedAndDeleted() {
        Order written = inserted("a", false);

        rows.update(new Order(written.id(), "z", true, null, null, 7));
        assertThat(rows.findById(written.id(), Order.class).group()).isEqualTo("z");

        rows.deleteById(written.id(), Order.class);
        assertThat(rows.count(Order.class)).isZero();
    }
}
