package orders;

// region marked
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.autoconfigure.RateLimitDataSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
class OrdersDatabase {

    @Bean
    @RateLimitDataSource
    DataSource orders(@Value("${orders.url}") String url) {
        HikariDataSource orders = new HikariDataSource();
        orders.setJdbcUrl(url);
        return orders;
    }
}
// endregion
