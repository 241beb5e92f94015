package dev.ratelimit.annotation.interceptor;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.annotation.InvalidRateLimitedException;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.annotation.interceptor.LimitedMethod.AnnotatedLimit;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.support.LogText;
import dev.ratelimit.web.expression.ExpressionTree;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.expression.Expression;
import org.springframework.util.ClassUtils;

/**
 * Checks every {@link RateLimited} at startup, so that a mistake stops the application and not a
 * call: a limit that does not exist, a cost that it can never grant, a word that no expression knows, a method that no
 * proxy sees.
 */
public final class RateLimitedCheck implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(RateLimitedCheck.class);

    private static final int HIDDEN = Modifier.PRIVATE | Modifier.STATIC;

    private static final int HIDDEN_FROM_SUBCLASSES = HIDDEN | Modifier.FINAL;

    private final Limits limits;
    private final ConfigurableListableBeanFactory beans;
    private final Advisor advisor;
    private final RateLimitedPointcut pointcut;
    private final Class<?> resolverType;
    private final Set<String> inUse = new HashSet<>();

    /**
     * @param advisor the advice that a limited bean must have
     * @param pointcut which methods it advises
     * @param resolverType the type of the beans that {@code key = "bean:NAME"} may name
     */
    public RateLimitedCheck(
            Limits limits,
            ConfigurableListableBeanFactory beans,
            Advisor advisor,
            RateLimitedPointcut pointcut,
            Class<?> resolverType) {
        this.limits = limits;
        this.beans = beans;
        this.advisor = advisor;
        this.pointcut = pointcut;
        this.resolverType = resolverType;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Set<Class<?>> unlimited = new HashSet<>();
        for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
            Class<?> type = typeOf(name, beans);
            if (type == null || unlimited.contains(type)) {
                continue;
            }
            Collection<LimitedMethod> methods = limitedMethods(type);
            if (methods.isEmpty()) {
                unlimited.add(type);
            } else {
                check(methods, type);
                warnIfNotAdvised(name, methods.iterator().next());
            }
        }
    }

    /** The names of the limits that annotations use; complete once all singletons exist. */
    public Set<String> limitsInUse() {
        return Set.copyOf(inUse);
    }

    /** The class of a bean that may have limits. */
    static @Nullable Class<?> typeOf(String bean, ConfigurableListableBeanFactory beans) {
        Class<?> type;
        try {
            type = AutoProxyUtils.determineTargetClass(beans, bean);
        } catch (BeansException e) {
            log.debug("The class of bean '{}' is not known", bean, e);
            return null;
        }
        if (type == null || type.getName().startsWith("org.springframework.")) {
            return null;
        }
        return AnnotationUtils.isCandidateClass(type, RateLimited.class) ? ClassUtils.getUserClass(type) : null;
    }

    /** None if the class speaks of others that are not there: such a bean cannot be made either. */
    static Collection<LimitedMethod> limitedMethods(Class<?> type) {
        try {
            return MethodIntrospector.selectMethods(type, (Method method) -> {
                        LimitedMethod limited = LimitedMethod.of(method, type);
                        return limited.limits().isEmpty() ? null : limited;
                    })
                    .values();
        } catch (IllegalStateException | LinkageError e) {
            log.debug("The methods of {} are not known", type, e);
            return List.of();
        }
    }

    private void check(Collection<LimitedMethod> methods, Class<?> type) {
        methods.forEach(method -> check(method, type));
        List<LimitedMethod> ofClass = methods.stream()
                .filter(method -> method.ofClass() && hidden(method.method(), type) == 0)
                .toList();
        if (!ofClass.isEmpty()) {
            // Each has the same annotations.
            List<Method> limited = ofClass.stream().map(LimitedMethod::method).toList();
            ofClass.get(0).limits().forEach(limit -> requireWords(limited, type, limit));
        }
    }

    private void check(LimitedMethod method, Class<?> type) {
        requireNoBeanMethod(method, type);
        requireSeenByProxies(method, type);
        for (AnnotatedLimit limit : method.limits()) {
            inUse.add(limit.name());
            Limit named = limits.find(limit.name());
            if (named == null && isUnread()) {
                log.info(
                        "Expecting the limit '{}' of @RateLimited on {} among the stored limits, which cannot be read yet",
                        LogText.of(limit.name()),
                        limit.on());
            } else if (named == null) {
                throw new InvalidRateLimitedException(
                        limit.on(),
                        "limit",
                        limit.name(),
                        limit.name().equals(Quota.LIMIT)
                                ? "write a rule with limits: [quota]: the caller's quota works only in rules"
                                : limits.names().isEmpty()
                                        ? "define it under ratelimit.limits"
                                        : "name one of " + String.join(", ", new TreeSet<>(limits.names()))
                                                + ", or define it under ratelimit.limits");
            }
            if (named != null) {
                requireCost(limit, named);
            }
            ExpressionWords.requireReadable(limit);
            requireBeans(limit);
            if (!method.ofClass()) {
                requireWords(List.of(method.method()), type, limit);
            }
        }
    }

    /** Whether there may be stored limits that are not known yet. */
    private boolean isUnread() {
        Policies policies = beans.getBeanProvider(Policies.class).getIfAvailable();
        return policies != null && !policies.isComplete();
    }

    private static void requireWords(List<Method> methods, Class<?> type, AnnotatedLimit limit) {
        ExpressionWords.requireKnown(methods, limit);
        ExpressionWords.requireOutcome(methods, limit);
        ExpressionWords.requireTypes(methods, type, limit);
    }

    private void requireBeans(AnnotatedLimit limit) {
        SubjectKey written = limit.subjectKey();
        if (written != null && written.kind() == SubjectKey.Kind.BEAN && !isResolver(written.argument())) {
            throw new InvalidRateLimitedException(
                    limit.on(),
                    "key",
                    "bean:" + written.argument(),
                    "name a bean of type " + resolverType.getName() + " that exists");
        }
        requireBeans(limit, "key", limit.key());
        requireBeans(limit, "cost", limit.cost());
        requireBeans(limit, "countWhen", limit.countWhen());
        requireBeans(limit, "resetWhen", limit.resetWhen());
    }

    private boolean isResolver(String bean) {
        return beans.containsBean(bean) && beans.isTypeMatch(bean, resolverType);
    }

    private void requireBeans(AnnotatedLimit limit, String attribute, @Nullable Expression expression) {
        if (expression == null) {
            return;
        }
        String missing = new ExpressionTree(expression).missingBean(beans::containsBean);
        if (missing != null) {
            throw new InvalidRateLimitedException(limit.on(), attribute, expression.getExpressionString(), missing);
        }
    }

    /** Spring calls such a method once, to make the bean. A class of them may have other methods, which are meant. */
    private static void requireNoBeanMethod(LimitedMethod limited, Class<?> type) {
        if (!limited.ofClass() && AnnotatedElementUtils.isAnnotated(limited.method(), Bean.class)) {
            throw new InvalidRateLimitedException(
                    LimitedMethod.described(limited.method(), type),
                    "annotation",
                    "@Bean",
                    "annotate the class of the bean, or its methods: this method only makes it");
        }
    }

    /** A limited class may inherit final methods, and have private and static ones: these are not meant. */
    private void requireSeenByProxies(LimitedMethod limited, Class<?> type) {
        Method method = limited.method();
        int hidden = hidden(method, type);
        boolean meant = !limited.ofClass()
                || (hidden == Modifier.FINAL
                        && Modifier.isPublic(method.getModifiers())
                        && method.getDeclaringClass().equals(type));
        if (hidden != 0 && meant) {
            throw new InvalidRateLimitedException(
                    LimitedMethod.described(method, type),
                    "modifier",
                    Modifier.toString(hidden),
                    "leave it out, or the annotation: a proxy does not see calls of such a method"
                            + (limited.ofClass() ? "; or add @RateLimitExempt" : ""));
        }
    }

    /** The modifiers that hide calls of a method from proxies; 0 if it has none. */
    private int hidden(Method method, Class<?> type) {
        return method.getModifiers() & (pointcut.isSubclassed(type) ? HIDDEN_FROM_SUBCLASSES : HIDDEN);
    }

    private static void requireCost(AnnotatedLimit limit, Limit named) {
        Expression written = limit.cost();
        if (written == null || !new ExpressionTree(written).isConstant()) {
            return;
        }
        String advice = "write a whole number from 1 to " + named.capacity() + ", all that limit '" + named.name()
                + "' can grant";
        Long cost;
        try {
            cost = written.getValue(Long.class);
        } catch (RuntimeException e) {
            throw new InvalidRateLimitedException(limit.on(), "cost", written.getExpressionString(), advice);
        }
        if (cost == null || cost < 1 || cost > named.capacity()) {
            throw new InvalidRateLimitedException(limit.on(), "cost", written.getExpressionString(), advice);
        }
    }

    /** Only a warning: in a test the bean may have been replaced on purpose. */
    private void warnIfNotAdvised(String name, LimitedMethod method) {
        Object bean = beans.containsSingleton(name) && !beans.isFactoryBean(name) ? beans.getSingleton(name) : null;
        if (bean != null && !isAdvised(bean)) {
            log.warn(
                    "@RateLimited on {} limits no call of bean '{}', which has no proxy. Perhaps it was created too early, for a"
                            + " BeanPostProcessor that needs it, or a test has replaced it",
                    method.limits().get(0).on(),
                    name);
        }
    }

    private boolean isAdvised(Object bean) {
        return bean instanceof Advised advised
                ? Arrays.asList(advised.getAdvisors()).contains(advisor)
                : AopUtils.isAopProxy(bean);
    }
}
