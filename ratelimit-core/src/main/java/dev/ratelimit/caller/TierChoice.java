package dev.ratelimit.caller;

/**
 * The tier of a caller, and where it comes from.
 *
 * @param name the name of the API key, the user or the authority; empty for the default
 */
public record TierChoice(String tier, Source source, String name) {

    /** Where a tier can come from, the strongest first. */
    public enum Source {
        API_KEY("the API key "),
        ACCOUNT("the quota of the user "),
        AUTHORITY("the authority "),
        DEFAULT("the default");

        private final String words;

        Source(String words) {
            this.words = words;
        }
    }

    public static TierChoice byDefault(String tier) {
        return new TierChoice(tier, Source.DEFAULT, "");
    }

    /** Where it comes from, for people. */
    public String origin() {
        return source.words + name;
    }
}
