package dev.ratelimit.archive;

import com.jerolba.carpet.CarpetReader;
import com.jerolba.carpet.CarpetWriter;
import com.jerolba.carpet.CloseableIterator;
import com.jerolba.carpet.ColumnNamingStrategy;
import com.jerolba.carpet.FieldMatchingStrategy;
import com.jerolba.carpet.TimeUnit;
import dev.ratelimit.audit.retention.AuditRow;
import dev.ratelimit.audit.retention.AuditRows;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.DelegatingSeekableInputStream;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;

/** A Parquet file with audit rows: the columns of the table, times in microseconds, compressed with Snappy. */
record ParquetFile(Path path) {

    /** The bytes that are held in memory while rows are written. */
    private static final long ROW_GROUP_BYTES = 8L * 1024 * 1024;

    /** The rows of a file. */
    record Content(long rows, Instant firstAt, Instant lastAt) {}

    /** Writes into the file, which must exist. */
    Content write(AuditRows.Source source) throws IOException {
        long count = 0;
        Instant first = Instant.EPOCH;
        Instant last = Instant.EPOCH;
        try (AuditRows rows = source.open();
                OutputStream bytes = new BufferedOutputStream(
                        Files.newOutputStream(path, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING));
                CarpetWriter<AuditRow> writer = new CarpetWriter.Builder<>(bytes, AuditRow.class)
                        .withColumnNamingStrategy(ColumnNamingStrategy.SNAKE_CASE)
                        .withDefaultTimeUnit(TimeUnit.MICROS)
                        .withCompressionCodec(CompressionCodecName.SNAPPY)
                        .withRowGroupSize(ROW_GROUP_BYTES)
                        .build()) {
            while (rows.hasNext()) {
                AuditRow row = rows.next();
                writer.write(row);
                first = count == 0 ? row.loggedAt() : first;
                last = row.loggedAt();
                count++;
            }
        }
        return new Content(count, first, last);
    }

    AuditRows read() {
        CloseableIterator<AuditRow> rows = new CarpetReader<>(new Input(path), AuditRow.class)
                .withFieldMatchingStrategy(FieldMatchingStrategy.SNAKE_CASE)
                .withFailOnMissingColumn(true)
                .withFailOnNullForPrimitives(true)
                .iterator();
        return new AuditRows() {
            @Override
            public boolean hasNext() {
                return rows.hasNext();
            }

            @Override
            public AuditRow next() {
                return rows.next();
            }

            @Override
            public void close() {
                try {
                    rows.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }

    /** Compares the file with the rows that it should have. The first difference, or {@code null}. */
    @Nullable
    String differenceTo(AuditRows.Source expected) {
        try (AuditRows wanted = expected.open();
                AuditRows found = read()) {
            while (wanted.hasNext()) {
                AuditRow row = wanted.next();
                if (!found.hasNext()) {
                    return "the row " + row.key() + " is missing";
                }
                AuditRow other = found.next();
                if (!row.equals(other)) {
                    return "the row " + other.key() + " is not equal to " + row.key() + " of the database";
                }
            }
            return found.hasNext() ? "the row " + found.next().key() + " is not in the database" : null;
        }
    }

    /** A file of any file system. */
    private record Input(Path path) implements InputFile {

        @Override
        public long getLength() throws IOException {
            return Files.size(path);
        }

        @Override
        public SeekableInputStream newStream() throws IOException {
            SeekableByteChannel channel = Files.newByteChannel(path);
            return new DelegatingSeekableInputStream(Channels.newInputStream(channel)) {
                @Override
                public long getPos() throws IOException {
                    return channel.position();
                }

                @Override
                public void seek(long position) throws IOException {
                    channel.position(position);
                }
            };
        }
    }
}
