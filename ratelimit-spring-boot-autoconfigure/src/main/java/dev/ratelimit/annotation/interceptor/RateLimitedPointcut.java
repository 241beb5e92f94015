package dev.ratelimit.annotation.interceptor;

import dev.ratelimit.annotation.InvalidRateLimitedException;
import dev.ratelimit.annotation.RateLimited;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * The methods that {@link RateLimited} applies to. A class that no proxy can be made for is refused here, before it is
 * tried.
 */
public final class RateLimitedPointcut extends StaticMethodMatcherPointcut {

    private final boolean proxyTargetClass;

    /**
     * @param proxyTargetClass whether proxies are subclasses, even where a bean has interfaces
     */
    public RateLimitedPointcut(boolean proxyTargetClass) {
        this.proxyTargetClass = proxyTargetClass;
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, RateLimited.class));
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        // A call may come by the method of an interface; the annotation may be on that of the class.
        Method own = AopUtils.getMostSpecificMethod(method, targetClass);
        boolean limited = isLimited(own) || isLimited(targetClass);
        if (limited && Modifier.isFinal(targetClass.getModifiers()) && isSubclassed(targetClass)) {
            throw new InvalidRateLimitedException(
                    isLimited(own) ? LimitedMethod.described(own, targetClass) : targetClass.getTypeName(),
                    "class modifier",
                    "final",
                    "leave it out, or the annotation: no proxy can be made for such a class, nor for a record");
        }
        return limited;
    }

    private static boolean isLimited(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RateLimited.class)
                || AnnotatedElementUtils.hasAnnotation(element, RateLimited.Several.class);
    }

    /** Whether the proxy for such a bean is a subclass, and not only of the same interfaces. */
    boolean isSubclassed(Class<?> type) {
        return (proxyTargetClass || ClassUtils.getAllInterfacesForClass(type).length == 0)
                && !Proxy.isProxyClass(type)
                && !ClassUtils.isLambdaClass(type);
    }
}
