package dev.ratelimit.login.check;

import dev.ratelimit.login.LoginLimits;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.NativeDetector;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/**
 * Limits the logins of every bean of type {@link AuthenticationManager}, for code that asks one itself, such as an endpoint
 * that logs users in. Spring Security has its own managers processed, too. A proxy keeps the class of the bean where it can.
 */
public final class LimitedManagers implements SmartInstantiationAwareBeanPostProcessor, BeanClassLoaderAware {

    private final Supplier<LoginLimits> logins;
    private @Nullable ClassLoader classLoader = ClassUtils.getDefaultClassLoader();

    /**
     * @param logins asked with the first login
     */
    public LimitedManagers(Supplier<LoginLimits> logins) {
        this.logins = logins;
    }

    @Override
    public void setBeanClassLoader(ClassLoader loader) {
        this.classLoader = loader;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (!(bean instanceof AuthenticationManager manager) || isLimited(bean)) {
            return bean;
        }
        // A native image has no classes for managers that are no beans; chains of Spring Security limit them anyway.
        if (NativeDetector.inNativeImage() && bean.toString().equals(name)) {
            return bean;
        }
        ProxyFactory proxy = proxy(bean.getClass());
        proxy.setTarget(bean);
        proxy.addAdvice(new Limiting(logins, manager));
        return proxy.getProxy(classLoader);
    }

    private static boolean isLimited(Object bean) {
        return bean instanceof Advised proxy
                && Arrays.stream(proxy.getAdvisors()).anyMatch(advisor -> advisor.getAdvice() instanceof Limiting);
    }

    /** For native images, whose proxy classes are made ahead of time. */
    @Override
    public Class<?> determineBeanType(Class<?> type, String name) {
        return AuthenticationManager.class.isAssignableFrom(type) ? proxy(type).getProxyClass(classLoader) : type;
    }

    private static ProxyFactory proxy(Class<?> type) {
        ProxyFactory proxy = new ProxyFactory();
        if (canBeExtended(type)) {
            proxy.setTargetClass(type);
            proxy.setProxyTargetClass(true);
        } else {
            proxy.setInterfaces(ClassUtils.getAllInterfacesForClass(type));
        }
        return proxy;
    }

    private static boolean canBeExtended(Class<?> type) {
        return !type.isInterface()
                && !Modifier.isFinal(type.getModifiers())
                && !Arrays.stream(type.getDeclaredConstructors())
                        .allMatch(constructor -> Modifier.isPrivate(constructor.getModifiers()));
    }

    /** Limits the one method of a manager. */
    private record Limiting(Supplier<LoginLimits> logins, AuthenticationManager manager) implements MethodInterceptor {

        @Override
        public @Nullable Object invoke(MethodInvocation call) throws Throwable {
            return call.getMethod().getName().equals("authenticate")
                            && call.getArguments().length == 1
                            && call.getArguments()[0] instanceof Authentication login
                    ? GateLoginLimits.authenticate(logins.get(), manager, login)
                    : call.proceed();
        }
    }
}
