package dev.ratelimit.dashboard;

/** The dashboard would be open to everybody. */
final class UnprotectedDashboardException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String path;

    UnprotectedDashboardException(String path, String why) {
        super("The dashboard of rate limits at " + path + " would be open to everybody: " + why);
        this.path = path;
    }

    String path() {
        return path;
    }
}
