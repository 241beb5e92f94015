package dev.ratelimit.operate;

import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.support.ShellWords;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The request of a {@code curl} command line that was pasted. It is only read: nothing is expanded, sent or run. Passwords,
 * tokens and secrets of API keys are dropped at once.
 */
final class CurlLine {

    private static final int MOST_CHARACTERS = 20_000;

    /** Short options with a value, beside those that are read here. */
    private static final String SHORT_WITH_VALUE = "ACDEFHKPQTUXYbcdehmortuwxyz";

    /** Long options with a value that say nothing of rate limits. */
    private static final Set<String> LONG_WITH_VALUE = Set.of(
            "cacert",
            "cert",
            "connect-timeout",
            "connect-to",
            "cookie-jar",
            "key",
            "max-time",
            "output",
            "proxy",
            "referer",
            "resolve",
            "retry",
            "retry-delay",
            "unix-socket",
            "user-agent",
            "write-out");

    private static final Map<String, String> LONG_NAMES = Map.ofEntries(
            Map.entry("request", "X"),
            Map.entry("header", "H"),
            Map.entry("user", "u"),
            Map.entry("cookie", "b"),
            Map.entry("data", "d"),
            Map.entry("data-raw", "d"),
            Map.entry("data-binary", "d"),
            Map.entry("data-ascii", "d"),
            Map.entry("data-urlencode", "d"),
            Map.entry("json", "d"),
            Map.entry("form", "F"),
            Map.entry("form-string", "F"),
            Map.entry("upload-file", "T"));

    /** The library's own keys, whose middle part is an id that may be shown. */
    private static final Pattern API_KEY = Pattern.compile("rl_([0-9a-f]{1,64})_\\S+");

    /** As in {@code https://alice:secret@example.com/}. */
    private static final Pattern USER_IN_URL = Pattern.compile("^(?:\\w+://)?([^/?#@]+)@");

    private static final Pattern FOR_WINDOWS = Pattern.compile("\\^[\"\\r\\n]");
    private static final Pattern CARET = Pattern.compile("\\^(\\r?\\n|.)", Pattern.DOTALL);

    private final List<String> notes = new ArrayList<>();
    private @Nullable String method;
    private @Nullable String url;
    private @Nullable String user;
    private @Nullable String apiKey;
    private boolean hasBody;
    private boolean hasFile;
    private boolean isHead;
    private boolean isGet;

    private CurlLine() {}

    /**
     * @throws IllegalArgumentException if it is no such line
     */
    static CurlLine parse(String line) {
        if (line.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException("the command line has " + line.length() + " characters; paste at most "
                    + MOST_CHARACTERS + ", without the body");
        }
        Deque<String> words = new ArrayDeque<>(ShellWords.of(withoutCarets(line)));
        if (words.isEmpty() || !words.poll().equals("curl")) {
            throw new IllegalArgumentException(
                    "the command line does not begin with curl; paste one such as: curl -u alice https://example.com/api");
        }
        CurlLine parsed = new CurlLine();
        while (!words.isEmpty()) {
            parsed.read(words.poll(), words);
        }
        return parsed;
    }

    /** The command prompt of Windows escapes with a caret, and browsers copy lines for it: {@code curl ^"https://…^" ^}. */
    private static String withoutCarets(String line) {
        return FOR_WINDOWS.matcher(line).find()
                ? CARET.matcher(line)
                        .replaceAll(
                                caret -> Matcher.quoteReplacement(caret.group(1).strip()))
                : line;
    }

    private void read(String word, Deque<String> rest) {
        if (word.startsWith("--") && word.length() > 2) {
            readLong(word.substring(2), rest);
        } else if (word.startsWith("-") && word.length() > 1) {
            readShort(word.substring(1), rest);
        } else if (!word.isEmpty() && !word.equals("--")) {
            readUrl(word);
        }
    }

    private void readLong(String option, Deque<String> rest) {
        String known = LONG_NAMES.get(option);
        if (known != null) {
            take(known.charAt(0), value("--" + option, rest));
        } else if (option.equals("url")) {
            readUrl(value("--url", rest));
        } else if (option.equals("head")) {
            isHead = true;
        } else if (option.equals("get")) {
            isGet = true;
        } else if (option.equals("oauth2-bearer")) {
            String unused = value("--oauth2-bearer", rest);
            noteToken();
        } else if (LONG_WITH_VALUE.contains(option)) {
            String unused = value("--" + option, rest);
        }
    }

    /** Letters without values may be joined: {@code -sSi}. A value may follow its letter at once: {@code -XPOST}. */
    private void readShort(String letters, Deque<String> rest) {
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            if (SHORT_WITH_VALUE.indexOf(letter) >= 0) {
                String joined = letters.substring(i + 1);
                take(letter, joined.isEmpty() ? value("-" + letter, rest) : joined);
                return;
            }
            isHead |= letter == 'I';
            isGet |= letter == 'G';
        }
    }

    private static String value(String option, Deque<String> rest) {
        String value = rest.poll();
        if (value == null) {
            throw new IllegalArgumentException("the option " + option + " has no value; paste the whole command line");
        }
        return value;
    }

    private void take(char option, String value) {
        switch (option) {
            case 'X' -> method = value;
            case 'H' -> readHeader(value);
            case 'u' -> user = beforeColon(value);
            case 'b' -> notes.add("the cookie is ignored: name the user if a session stands for one");
            case 'd', 'F' -> hasBody = true;
            case 'T' -> hasFile = true;
            default -> {
                // says nothing of rate limits
            }
        }
    }

    private void readUrl(String word) {
        if (url == null) {
            url = word;
            Matcher named = USER_IN_URL.matcher(word);
            if (user == null && named.find()) {
                user = beforeColon(named.group(1));
            }
        } else {
            notes.add("more than one URL is given: only the first is explained");
        }
    }

    private void readHeader(String header) {
        int colon = header.indexOf(':');
        String name = (colon < 0 ? header : header.substring(0, colon)).strip().toLowerCase(Locale.ROOT);
        String value = colon < 0 ? "" : header.substring(colon + 1).strip();
        switch (name) {
            case "authorization" -> readAuthorization(value);
            case "x-api-key" -> readApiKey(value);
            case "cookie" -> notes.add("the cookie is ignored: name the user if a session stands for one");
            case "x-forwarded-for", "forwarded", "x-real-ip" ->
                notes.add("the header " + name + " is ignored: give the client's address instead");
            default -> {
                // no rule is explained by it
            }
        }
    }

    private void readAuthorization(String value) {
        if (!value.regionMatches(true, 0, "Basic ", 0, 6)) {
            noteToken();
            return;
        }
        try {
            byte[] decoded = Base64.getDecoder().decode(value.substring(6).strip());
            user = beforeColon(new String(decoded, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            notes.add("the header authorization is ignored: it is not valid Base64");
        }
    }

    private void noteToken() {
        notes.add("the token is ignored: name the user that it stands for");
    }

    private void readApiKey(String value) {
        Matcher key = API_KEY.matcher(value);
        if (key.matches()) {
            apiKey = key.group(1);
            notes.add("of the API key only the id is read: its secret is not checked");
        } else {
            notes.add("the API key is ignored: it is not one of this library");
        }
    }

    private static String beforeColon(String value) {
        int colon = value.indexOf(':');
        return colon < 0 ? value : value.substring(0, colon);
    }

    /**
     * @param contextPath the beginning of all paths of the application, which rules do not match; empty if there is none
     */
    Inquiry inquiry(@Nullable String address, String contextPath) {
        String chosen = method;
        if (chosen == null) {
            chosen = isHead ? "HEAD" : isGet ? "GET" : hasFile ? "PUT" : hasBody ? "POST" : "GET";
        }
        return new Inquiry(
                chosen, within(contextPath), address, user == null || user.isBlank() ? null : user, Set.of(), apiKey);
    }

    List<String> notes() {
        return notes.stream().distinct().toList();
    }

    private String within(String contextPath) {
        String path = path();
        if (contextPath.isEmpty() || !(path + "/").startsWith(contextPath + "/")) {
            return path;
        }
        notes.add("the path is explained without " + contextPath + ", the context path of the application");
        return path.length() == contextPath.length() ? "/" : path.substring(contextPath.length());
    }

    /** The path of the URL as it is written, without scheme, host, query and fragment. */
    private String path() {
        String rest = url;
        if (rest == null) {
            throw new IllegalArgumentException(
                    "the command line has no URL; paste one such as: curl https://example.com/api");
        }
        int scheme = rest.indexOf("://");
        rest = scheme < 0 ? rest : rest.substring(scheme + 3);
        int end = firstOf(rest, '?', '#');
        rest = end < 0 ? rest : rest.substring(0, end);
        int slash = rest.indexOf('/');
        return slash < 0 ? "/" : rest.substring(slash);
    }

    private static int firstOf(String text, char one, char other) {
        int first = text.indexOf(one);
        int second = text.indexOf(other);
        return first < 0 ? second : second < 0 ? first : Math.min(first, second);
    }
}
