package dev.ratelimit.web;

import dev.ratelimit.Subject;
import dev.ratelimit.rule.InvalidRuleException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** Turns the key of a rule, as written in configuration, into what finds the subject of a request. */
public final class SubjectKeys {

    private static final String ADVICE = "write user, ip, user+ip, session, api-key, header:NAME, bean:NAME,"
            + " or an expression that begins with # or @, such as #request.getParameter('tenant')";

    private static final String API_KEY_HEADER = "X-API-Key";

    private final ClientAddresses addresses;
    private final BeanFactory beans;
    private final SpelExpressionParser expressions = new SpelExpressionParser();

    public SubjectKeys(ClientAddresses addresses, BeanFactory beans) {
        this.addresses = addresses;
        this.beans = beans;
    }

    /**
     * A key that was compiled.
     *
     * @param needsUser whether it can only be found after authentication
     */
    record CompiledKey(SubjectResolver resolver, boolean needsUser) {}

    CompiledKey compile(String rule, String written) {
        String key = written.strip();
        if (key.startsWith("header:") && key.length() > "header:".length()) {
            String header = key.substring("header:".length()).strip();
            return before(request -> value("header", header + "=", request.getHeader(header)));
        }
        if (key.startsWith("bean:")) {
            return after(bean(rule, key));
        }
        if (key.startsWith("#") || key.startsWith("@")) {
            return after(expression(rule, key));
        }
        return switch (key) {
            case "user" -> after(this::user);
            case "ip" -> before(this::address);
            case "user+ip" -> after(request -> orAddress(user(request), request).and("ip", client(request)));
            case "session" -> after(SubjectKeys::session);
            case "api-key" -> before(request -> digest(request.getHeader(API_KEY_HEADER)));
            default -> throw new InvalidRuleException(rule, "key", written, ADVICE);
        };
    }

    private CompiledKey before(SubjectResolver resolver) {
        return new CompiledKey(request -> orAddress(resolver.resolve(request), request), false);
    }

    private CompiledKey after(SubjectResolver resolver) {
        return new CompiledKey(request -> orAddress(resolver.resolve(request), request), true);
    }

    private Subject orAddress(@Nullable Subject subject, HttpServletRequest request) {
        return subject == null ? address(request) : subject;
    }

    /** The text that stands for the client: its address, or the network of its IPv6 address. */
    public String client(HttpServletRequest request) {
        return addresses.clientOf(request);
    }

    /** The client's address as a subject. */
    public Subject address(HttpServletRequest request) {
        return Subject.ip(client(request));
    }

    /** The user, or the client's address if nobody is logged in. */
    public Subject userOrAddress(HttpServletRequest request) {
        return orAddress(user(request), request);
    }

    private @Nullable Subject user(HttpServletRequest request) {
        Principal principal = request.getUserPrincipal();
        return principal == null ? null : value("user", "", principal.getName());
    }

    private static @Nullable Subject session(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        return session == null ? null : digest("session", session.getId());
    }

    private static @Nullable Subject digest(@Nullable String apiKey) {
        return apiKey == null || apiKey.isBlank() ? null : digest("api-key", apiKey.strip());
    }

    /** Secrets are counted by their digest: neither a table nor a log ever holds one. */
    private static Subject digest(String type, String secret) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
            return Subject.of(type, Base64.getUrlEncoder().withoutPadding().encodeToString(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static @Nullable Subject value(String type, String prefix, @Nullable String value) {
        return value == null || value.isBlank() ? null : Subject.of(type, prefix + value.strip());
    }

    private SubjectResolver bean(String rule, String key) {
        String name = key.substring("bean:".length()).strip();
        try {
            return beans.getBean(name, SubjectResolver.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw new InvalidRuleException(
                    rule, "key", key, "name a bean of type " + SubjectResolver.class.getName() + " that exists");
        }
    }

    private SubjectResolver expression(String rule, String key) {
        Expression expression;
        try {
            expression = expressions.parseExpression(key);
        } catch (ParseException e) {
            throw new InvalidRuleException(rule, "key", key, "write an expression that can be read: " + e.getMessage());
        }
        return request -> {
            StandardEvaluationContext context = new StandardEvaluationContext();
            context.setBeanResolver(new BeanFactoryResolver(beans));
            context.setVariable("request", request);
            context.setVariable("principal", request.getUserPrincipal());
            context.setVariable("client", client(request));
            Object value = expression.getValue(context);
            return value == null ? null : value("key", "", value.toString());
        };
    }
}
