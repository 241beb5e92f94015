package dev.ratelimit;

/**
 * A charge that is settled later, when the real cost of the request is known: nothing after a successful login, more
 * after a long answer. It is charged at once, so that parallel requests cannot slip through meanwhile; a
 * reservation that is never settled stays charged. Settled once; safe for use by many threads.
 *
 * <p>If the store fails, a settlement returns {@code false}, and you may call it again. It is repeated only if the store has
 * surely not made it. Otherwise every later call returns {@code false} too, and changes nothing: two refunds of one charge would
 * admit too much.
 */
public interface Reservation extends Charged {

    /**
     * Keeps the charge as it is.
     *
     * @return whether it is kept; {@code false} if the store may have changed it before
     */
    boolean commit();

    /**
     * Takes the charge back. The time of the request still counts for {@code min-interval}. After a reset of the subject
     * it would be taken from later charges: reset or refund, not both.
     *
     * @return whether it was done; {@code false} if the store failed
     */
    boolean refund();

    @Override
    default boolean giveBack() {
        return refund();
    }

    /**
     * Charges this cost instead, on each limit of the request. More than was reserved is charged even where the limit
     * has no room for it; later requests wait for it.
     *
     * @param cost zero or more, and on no limit more than it can ever grant
     * @return whether it was done; {@code false} if the store failed
     */
    boolean settle(long cost);
}
