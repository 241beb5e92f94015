package dev.ratelimit.autoconfigure;

import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/** An interceptor that is made with the first call. */
final class LazyInterceptor implements MethodInterceptor {

    private final SingletonSupplier<MethodInterceptor> interceptor;

    LazyInterceptor(Supplier<MethodInterceptor> interceptor) {
        this.interceptor = SingletonSupplier.of(interceptor);
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        return interceptor.obtain().invoke(invocation);
    }
}
