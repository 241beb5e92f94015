package dev.ratelimit.data;

import dev.ratelimit.store.jdbc.DatabaseProduct;

class PostgresKeysAndQuotasTest extends KeysAndQuotasContract {

    @Override
    protected TestDatabase create() {
        return TestDatabase.postgres();
    }

    @Override
    protected DatabaseProduct product() {
        return DatabaseProduct.POSTGRESQL;
    }
}
