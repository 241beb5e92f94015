package dev.ratelimit.store.redis;

/** The servers that must have a decision before it is answered. */
public enum Acknowledge {
    /** The master. A failover may lose what it had not sent to its replicas. */
    MASTER,
    /** The master and at least one replica. */
    REPLICA
}
