package dev.ratelimit.benchmark.load;

/**
 * The figures of one contender in one turn.
 *
 * @param perSecond decisions, or whole requests
 * @param p50 microseconds
 * @param p99 microseconds
 * @param deniedPart the part of the decisions that were denials
 * @param databaseMicros processor time of the database for each decision; {@code NaN} if it was not measured
 * @param allMicros processor time of application and database for each request; {@code NaN} if it was not measured
 */
public record Turn(
        double perSecond, double p50, double p99, double deniedPart, double databaseMicros, double allMicros) {

    public Turn(double perSecond, double p50, double p99, double deniedPart, double databaseMicros) {
        this(perSecond, p50, p99, deniedPart, databaseMicros, Double.NaN);
    }
}
