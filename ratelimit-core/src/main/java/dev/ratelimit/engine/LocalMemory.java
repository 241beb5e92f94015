package dev.ratelimit.engine;

import dev.ratelimit.Subject;
import dev.ratelimit.engine.lease.Leases;
import dev.ratelimit.store.StateKey;

/** All that this process remembers of subjects, to answer without the store: denials and leases. */
final class LocalMemory {

    final DeniedSubjects denials;
    final Leases leases;

    LocalMemory(DeniedSubjects denials, Leases leases) {
        this.denials = denials;
        this.leases = leases;
    }

    EngineStatus.Cache leaseStatus() {
        return new EngineStatus.Cache(leases.hits(), leases.misses(), leases.size());
    }

    void forget(StateKey key) {
        denials.clear(key);
        leases.drop(key);
    }

    void forget(Subject subject) {
        denials.clear(subject);
        leases.drop(subject);
    }

    void forget() {
        denials.clear();
        leases.drop();
    }
}
