package dev.ratelimit.build;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The sentences of a page in Markdown, without its code. */
final class Sentences {
    private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^\\s*```.*?^\\s*```\\s*$|^(?: {4,}|\\t)\\S.*?$");

    /** An empty line, or the beginning of a list item, a row or a heading. */
    private static final Pattern PARAGRAPH = Pattern.compile("\\n\\s*\\n|\\n(?=\\s*(?:[-*|#>]|\\d+\\.) ?)");

    private static final Pattern END = Pattern.compile("(?<=[.!?]\\*{0,2}\"?)\\s+(?=[A-Z`\\[*\"(0-9])");
    private static final Pattern MARKS = Pattern.compile("^(?:[-*#>\\s]|\\d+\\.\\s)+");

    private Sentences() {}

    static List<String> ofMarkdown(String page) {
        List<String> sentences = new ArrayList<>();
        for (String paragraph : PARAGRAPH.split(CODE_BLOCK.matcher(page).replaceAll(""))) {
            String[] cells = paragraph.strip().startsWith("|") ? paragraph.split("\\|") : new String[] {paragraph};
            for (String cell : cells) {
                for (String sentence : END.split(withoutMargin(cell))) {
                    String bare = MARKS.matcher(sentence).replaceFirst("");
                    if (!bare.isEmpty()) {
                        sentences.add(bare);
                    }
                }
            }
        }
        return sentences;
    }

    /** One line, without the stars and slashes in front of the lines of a comment. */
    static String withoutMargin(String text) {
        return text.replaceAll("\\n\\s*(?:\\*|//|--|#)?\\s*", " ").strip();
    }

    /** Code counts as one word. */
    static int words(String sentence) {
        return sentence.replaceAll("`[^`]*`", "code").split("\\s+").length;
    }
}
