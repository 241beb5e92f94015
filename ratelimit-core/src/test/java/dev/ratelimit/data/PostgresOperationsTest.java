package dev.ratelimit.data;

import dev.ratelimit.store.jdbc.DatabaseProduct;

class PostgresOperationsTest extends OperationsContract {

    @Override
    protected TestDatabase create() {
        return TestDatabase.postgres();
    }

    @Override
    protected DatabaseProduct product() {
        return DatabaseProduct.POSTGRESQL;
    }
}
