package orders;

// region marked
import dev.ratelimit.autoconfigure.RateLimitDataSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
class OrdersDatabase {

    @Bean
    @RateLimitDataSource
    DataSource orders(@Value("${orders.url}") String url) {
        return DataSourceBuilder.create().url(url).build();
    }
}
// endregion
