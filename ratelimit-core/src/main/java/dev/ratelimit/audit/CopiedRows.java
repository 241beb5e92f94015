package dev.ratelimit.audit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.springframework.util.ClassUtils;

/**
 * Rows for {@code COPY … FROM STDIN (FORMAT binary)}, which takes less of the database's time than an {@code INSERT}. Only the
 * driver can send them, so the connection must lead to it. Not safe for use by many threads.
 */
final class CopiedRows {

    private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0};

    /** The database counts microseconds from the year 2000. */
    private static final long MICROS_BEFORE_2000 = 946_684_800_000_000L;

    private static final int USUAL_ROW = 512;

    private static final boolean HAS_DRIVER =
            ClassUtils.isPresent("org.postgresql.PGConnection", CopiedRows.class.getClassLoader());

    private final List<String> types;
    private ByteBuffer bytes;

    /**
     * @param types of the columns; values of {@code timestamptz} are microseconds since 1970, and those of {@code uuid} are text
     */
    CopiedRows(List<String> types, List<@Nullable Object[]> rows) {
        this.types = types;
        this.bytes = ByteBuffer.allocate(SIGNATURE.length + USUAL_ROW * (rows.size() + 1));
        bytes.put(SIGNATURE);
        putInt(0); // no flags
        putInt(0); // no extension of the header
        rows.forEach(this::put);
        room(Short.BYTES).putShort((short) -1);
    }

    static boolean canBeSentOver(Connection connection) throws SQLException {
        return HAS_DRIVER && connection.isWrapperFor(PGConnection.class);
    }

    /**
     * @param copy the statement
     */
    void send(Connection connection, String copy) throws SQLException {
        try {
            connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn(copy, new ByteArrayInputStream(bytes.array(), 0, bytes.position()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void put(@Nullable Object[] row) {
        room(Short.BYTES).putShort((short) types.size());
        for (int column = 0; column < types.size(); column++) {
            put(types.get(column), row[column]);
        }
    }

    /** Each value comes after its length in bytes. */
    private void put(String type, @Nullable Object value) {
        if (value == null) {
            putInt(-1);
            return;
        }
        switch (type) {
            case "bigint" -> putLong((Long) value);
            case "timestamptz" -> putLong((Long) value - MICROS_BEFORE_2000);
            case "integer" -> {
                putInt(Integer.BYTES);
                putInt((Integer) value);
            }
            case "boolean" -> {
                putInt(1);
                room(1).put((byte) ((Boolean) value ? 1 : 0));
            }
            case "uuid" -> {
                UUID id = UUID.fromString((String) value);
                putInt(2 * Long.BYTES);
                room(2 * Long.BYTES).putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
            }
            case "text" -> {
                byte[] text = ((String) value).getBytes(StandardCharsets.UTF_8);
                putInt(text.length);
                room(text.length).put(text);
            }
            default -> throw new IllegalArgumentException("no binary form of " + type + " is written here");
        }
    }

    private void putInt(int number) {
        room(Integer.BYTES).putInt(number);
    }

    private void putLong(long number) {
        putInt(Long.BYTES);
        room(Long.BYTES).putLong(number);
    }

    private ByteBuffer room(int needed) {
        if (bytes.remaining() < needed) {
            ByteBuffer larger = ByteBuffer.allocate(2 * bytes.capacity() + needed);
            larger.put(bytes.flip());
            bytes = larger;
        }
        return bytes;
    }
}
