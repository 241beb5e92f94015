package dev.ratelimit.event;

/** An event of rate limiting. Listen to this type for all of them, or to one of its kinds. */
public sealed interface RateLimitEvent
        permits AddressBlockedEvent,
                AddressUnblockedEvent,
                LimitChangedEvent,
                LimitExceededEvent,
                PenaltyBegunEvent,
                RuleChangedEvent,
                StoreLostEvent,
                StoreRegainedEvent,
                SubjectResetEvent,
                UserBlockedEvent,
                UserUnblockedEvent {}
