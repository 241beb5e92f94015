package dev.ratelimit.store.postgresql.admission;

/**
 * The numbers of a limit that a fragment uses, in whole microseconds and units.
 *
 * @param size the length of the window; for a bucket, the units that one permit is
 * @param rate the units that a microsecond brings or drains; zero if there is no rate
 * @param most the most units that a charge may leave; zero if there is no such bound
 * @param origin a moment at which a window begins; no earlier moment is covered
 * @param until from this moment on, the windows may be other ones
 */
public record AdmissionNumbers(long size, long rate, long most, long origin, long until) {

    /** Windows of one length, the first of which begins with the epoch. */
    static AdmissionNumbers windows(long size) {
        return new AdmissionNumbers(size, 0, 0, 0, Long.MAX_VALUE);
    }

    /** One window, and no other. */
    static AdmissionNumbers window(long start, long end) {
        return new AdmissionNumbers(end - start, 0, 0, start, end);
    }

    static AdmissionNumbers bucket(long unitsPerPermit, long rate, long most) {
        return new AdmissionNumbers(unitsPerPermit, rate, most, 0, Long.MAX_VALUE);
    }

    /** Whether a new row surely has room for these permits, which are no more than the capacity. */
    public boolean fits(long permits) {
        return most == 0 || permits <= most / size;
    }

    /** The start of the window that a covered moment is in. */
    long startAt(long moment) {
        return moment - (moment - origin) % size;
    }
}
