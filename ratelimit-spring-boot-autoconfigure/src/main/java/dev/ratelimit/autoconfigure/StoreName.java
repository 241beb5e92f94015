package dev.ratelimit.autoconfigure;

import dev.ratelimit.database.DatabaseChoice;
import org.springframework.beans.factory.BeanFactory;

/** The name of the store, for operators. */
final class StoreName {

    private StoreName() {}

    static String of(BeanFactory beans) {
        // A store of the application may come without a database that could be described.
        DatabaseChoice choice = beans.containsBean(OnDatabase.OUR_STORE)
                ? beans.getBeanProvider(DatabaseChoice.class).getIfAvailable()
                : null;
        return choice == null ? "a store of the application" : choice.state().toString();
    }
}
