package dev.ratelimit.data;

import java.util.Collection;
import java.util.List;
import org.springframework.core.convert.converter.Converter;
import org.springframework.data.convert.ReadingConverter;
import org.springframework.data.jdbc.core.dialect.JdbcDialect;
import org.springframework.data.relational.core.dialect.AbstractDialect;
import org.springframework.data.relational.core.dialect.IdGeneration;
import org.springframework.data.relational.core.dialect.LimitClause;
import org.springframework.data.relational.core.dialect.LockClause;
import org.springframework.data.relational.core.sql.IdentifierProcessing;
import org.springframework.data.relational.core.sql.IdentifierProcessing.LetterCasing;
import org.springframework.data.relational.core.sql.IdentifierProcessing.Quoting;
import org.springframework.data.relational.core.sql.LockOptions;

/** Teaches SQLite to Spring Data JDBC, which has no dialect for it. */
final class SqliteDialect extends AbstractDialect implements JdbcDialect {

    static final SqliteDialect INSTANCE = new SqliteDialect();

    private static final IdentifierProcessing IDENTIFIERS =
            IdentifierProcessing.create(new Quoting("\""), LetterCasing.AS_IS);

    private SqliteDialect() {}

    @Override
    public IdentifierProcessing getIdentifierProcessing() {
        return IDENTIFIERS;
    }

    @Override
    public IdGeneration getIdGeneration() {
        return Ids.INSTANCE;
    }

    @Override
    public LimitClause limit() {
        return Limiting.INSTANCE;
    }

    @Override
    public LockClause lock() {
        return Locking.INSTANCE;
    }

    @Override
    public Collection<Object> getConverters() {
        return List.of(NumberToBoolean.INSTANCE);
    }

    /** The driver returns only the id of the last row, so several rows are inserted one after another. */
    private enum Ids implements IdGeneration {
        INSTANCE;

        @Override
        public boolean supportedForBatchOperations() {
            return false;
        }

        @Override
        public boolean sequencesSupported() {
            return false;
        }
    }

    private enum Limiting implements LimitClause {
        INSTANCE;

        @Override
        public String getLimit(long limit) {
            return "LIMIT " + limit;
        }

        @Override
        public String getOffset(long offset) {
            // SQLite has no OFFSET without a LIMIT; a negative LIMIT is none.
            return "LIMIT -1 OFFSET " + offset;
        }

        @Override
        public String getLimitOffset(long limit, long offset) {
            return "LIMIT " + limit + " OFFSET " + offset;
        }

        @Override
        public LimitClause.Position getClausePosition() {
            return LimitClause.Position.AFTER_ORDER_BY;
        }
    }

    /** SQLite has no row locks: there is one writer at a time. */
    private enum Locking implements LockClause {
        INSTANCE;

        @Override
        public String getLock(LockOptions options) {
            return "";
        }

        @Override
        public LockClause.Position getClausePosition() {
            return LockClause.Position.AFTER_ORDER_BY;
        }
    }

    /** SQLite has no booleans: they are 0 and 1. */
    @ReadingConverter
    private enum NumberToBoolean implements Converter<Number, Boolean> {
        INSTANCE;

        @Override
        public Boolean convert(Number number) {
            return number.longValue() != 0;
        }
    }
}
