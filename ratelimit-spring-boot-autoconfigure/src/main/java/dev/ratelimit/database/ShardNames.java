package dev.ratelimit.database;

import dev.ratelimit.setting.InvalidPropertyException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The names of shards. In a map, you give them: they stay the same when a host gets another name. In a list, the host and the
 * database of the URL are the name.
 */
final class ShardNames {

    static final String PROPERTY = "ratelimit.store.postgresql.shards";

    private static final Pattern INDEX = Pattern.compile("\\d+");
    private static final Pattern NAME = Pattern.compile("[\\x21-\\x7e]{1,200}");

    /** Such as {@code jdbc:postgresql://host:5432/database?user=app}, or {@code jdbc:postgresql:database}. */
    private static final Pattern URL = Pattern.compile("jdbc:postgresql:(?://([^/?]*)/?)?([^?/]*)(?:\\?.*)?");

    private ShardNames() {}

    /**
     * The URLs by name, in the order of the configuration.
     *
     * @param configured by name; or by index, if they are a list
     */
    static Map<String, String> of(Map<String, String> configured) {
        Map<String, String> byName = new LinkedHashMap<>();
        Set<String> urls = new HashSet<>();
        configured.forEach((key, url) -> {
            String name = INDEX.matcher(key).matches() ? nameOf(key, url) : key;
            String property = PROPERTY + "[" + key + "]";
            if (!URL.matcher(url).matches()) {
                throw new InvalidPropertyException(
                        property, withoutParameters(url), "write a JDBC URL such as jdbc:postgresql://db1.example/app");
            }
            if (!NAME.matcher(name).matches()) {
                throw new InvalidPropertyException(
                        property,
                        withoutParameters(url),
                        "name the shard with 1 to 200 ASCII characters without blanks");
            }
            if (!urls.add(nameOf(key, url)) || byName.put(name, url) != null) {
                throw new InvalidPropertyException(
                        property,
                        withoutParameters(url),
                        "remove it, or write the URL of another database: two shards must not share one");
            }
        });
        return byName;
    }

    /** Host and database; the user and the password are no part of it. */
    private static String nameOf(String key, String url) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            return key;
        }
        String host = parts.group(1) == null || parts.group(1).isEmpty() ? "localhost" : parts.group(1);
        String plain = host.substring(host.lastIndexOf('@') + 1).replaceAll(":5432(?=,|$)", "");
        return plain.toLowerCase(Locale.ROOT) + "/" + parts.group(2);
    }

    /** Without a password, for messages. */
    private static String withoutParameters(String url) {
        return url.replaceFirst("\\?.*", "").replaceFirst("//[^/]*@", "//");
    }
}
