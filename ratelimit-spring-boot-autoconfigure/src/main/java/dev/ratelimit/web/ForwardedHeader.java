package dev.ratelimit.web;

import java.util.ArrayList;
import java.util.List;

/**
 * Parses the {@code Forwarded} header (RFC 7239). Commas separate elements and semicolons separate pairs, except inside quoted
 * strings. A malformed element is an unknown hop. A quote that is not closed is an ordinary letter: so a client that opens one
 * cannot hide the element that a proxy adds behind it.
 */
final class ForwardedHeader {

    private static final String UNKNOWN = "";

    private ForwardedHeader() {}

    /** The {@code for} of each element, in order; empty for an element that has none, or is malformed. */
    static List<String> hops(List<String> lines) {
        List<String> hops = new ArrayList<>();
        for (String line : lines) {
            for (String element : split(line, ',')) {
                hops.add(hop(element));
            }
        }
        return hops;
    }

    private static String hop(String element) {
        String hop = UNKNOWN;
        boolean found = false;
        for (String pair : split(element, ';')) {
            if (pair.isBlank()) {
                continue;
            }
            int equals = pair.indexOf('=');
            String value =
                    equals < 0 ? UNKNOWN : unquoted(pair.substring(equals + 1).strip());
            if (value.isEmpty()) {
                return UNKNOWN;
            }
            if (pair.substring(0, equals).strip().equalsIgnoreCase("for")) {
                if (found) {
                    return UNKNOWN; // each parameter may be there once
                }
                found = true;
                hop = value;
            }
        }
        return hop;
    }

    /**
     * Splits at the separators that are not within quotes. Only escaped quotes can follow one that is not closed, and a proxy writes
     * none there: so they are letters, too, and each letter is read twice at most.
     */
    private static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        int start = 0;
        boolean closes = true;
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            if (letter == '"' && closes) {
                int end = endOfQuote(text, i);
                closes = end > i;
                i = end;
            } else if (letter == separator) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(text.substring(start));
        return parts;
    }

    /** The index of the closing quote; that of the opening one if there is none. */
    private static int endOfQuote(String text, int opening) {
        for (int i = opening + 1; i < text.length(); i++) {
            char letter = text.charAt(i);
            if (letter == '\\') {
                i++;
            } else if (letter == '"') {
                return i;
            }
        }
        return opening;
    }

    private static String unquoted(String value) {
        if (!value.startsWith("\"")) {
            return value.indexOf('"') < 0 ? value : UNKNOWN;
        }
        StringBuilder content = new StringBuilder(value.length());
        for (int i = 1; i < value.length(); i++) {
            char letter = value.charAt(i);
            if (letter == '"') {
                return i == value.length() - 1 ? content.toString() : UNKNOWN;
            }
            if (letter == '\\' && ++i == value.length()) {
                return UNKNOWN;
            }
            content.append(value.charAt(i));
        }
        return UNKNOWN;
    }
}
