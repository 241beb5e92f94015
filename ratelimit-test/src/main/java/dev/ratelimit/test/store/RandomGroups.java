package dev.ratelimit.test.store;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.Micros;
import dev.ratelimit.test.RateLimitClock;
import dev.ratelimit.test.store.RandomLimits.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * One random history, group by group: some subjects and limits, everything that can be asked of a store, limits that
 * are redefined under their names or are of another tier for one of the subjects, and a clock that mostly goes forward. What comes next depends on the answers.
 */
public final class RandomGroups {

    private static final Instant EARLIEST = Instant.parse("2024-01-01T00:00:00Z");
    private static final long LONGEST_LOG = 40;
    private static final int LIMITS = 8;
    private static final int MOST_CHARGES = 100;
    private static final List<Subject> SUBJECTS =
            List.of(Subject.user("alice"), Subject.user("Ärger"), Subject.ip("203.0.113.7"));

    private static final List<Kind> KINDS = List.of(Kind.values());

    private record Charged(Subject subject, Limit limit, Charge charge) {}

    private final RandomGenerator random;
    private final RateLimitClock clock;
    private final RandomLimits limits;
    private final List<Limit> current = new ArrayList<>();

    /** The numbers of another tier for some of the limits, by name. */
    private final Map<String, Limit> otherTier = new HashMap<>();

    private final List<Charged> charges = new ArrayList<>();
    private final Map<Kind, Integer> demands = new EnumMap<>(Kind.class);
    private List<Operation> group = List.of();
    private long wait;

    public RandomGroups(RandomGenerator random, RateLimitClock clock) {
        this.random = random;
        this.clock = clock;
        this.limits = new RandomLimits(random, LONGEST_LOG);
        for (int i = 0; i < LIMITS; i++) {
            current.add(limits.next("limit-" + i, kind()));
            redefineOtherTier(current.get(i));
        }
        clock.set(random.nextBoolean() ? nearClockChange() : anyMoment());
    }

    /** All keys that the history may touch. */
    public List<StateKey> keys() {
        List<StateKey> keys = new ArrayList<>();
        for (Subject subject : SUBJECTS) {
            current.forEach(limit -> keys.add(StateKey.of(subject, limit.name())));
        }
        return keys;
    }

    /** How often each algorithm was asked so far. */
    public Map<Kind, Integer> demands() {
        return demands;
    }

    /** The next group; {@link #answered} must follow. */
    public List<Operation> next() {
        moveClock();
        group = switch (random.nextInt(8)) {
            case 0, 1 -> mixed(1);
            case 2 -> plain(List.of(current.get(random.nextInt(LIMITS))), 1);
            case 3 -> plain(current, 1);
            case 4 -> plain(ofOneAlgorithm(), 1);
            case 5 -> plain(ofOneAlgorithm(), 3);
            default -> mixed(1 + random.nextInt(60));
        };
        return group;
    }

    private List<Operation> mixed(int size) {
        List<Operation> operations = new ArrayList<>(size);
        while (operations.size() < size) {
            if (random.nextInt(60) == 0) {
                redefine(random.nextInt(LIMITS));
            }
            operations.add(operation());
        }
        return operations;
    }

    private List<Limit> ofOneAlgorithm() {
        String algorithm = current.get(random.nextInt(LIMITS)).algorithm().name();
        return current.stream()
                .filter(limit -> limit.algorithm().name().equals(algorithm))
                .toList();
    }

    /** As most groups are: requests of one permit each, some of them of the same subject; on so many limits at most. */
    private List<Operation> plain(List<Limit> asked, int mostLimits) {
        int size = 1 + random.nextInt(20);
        List<Operation> operations = new ArrayList<>(size);
        while (operations.size() < size) {
            int limitsEach = 1 + random.nextInt(Math.min(mostLimits, asked.size()));
            int first = random.nextInt(asked.size());
            List<Demand> list = new ArrayList<>();
            for (int i = 0; i < limitsEach; i++) {
                Limit limit = asked.get((first + i) % asked.size());
                Subject subject = SUBJECTS.get(random.nextInt(SUBJECTS.size()));
                list.add(counted(new Demand(subject, tier(subject, limit), 1)));
            }
            operations.add(new Operation(Operation.Kind.DECIDE, list));
        }
        return operations;
    }

    /** Learns from the answers what can be settled and for how long to wait. */
    public void answered(List<Answer> answers) {
        for (int i = 0; i < group.size(); i++) {
            Operation operation = group.get(i);
            Answer answer = answers.get(i);
            for (int d = 0; d < operation.demands().size(); d++) {
                Demand demand = operation.demands().get(d);
                Verdict verdict = answer.verdicts().get(d);
                if (operation.kind() == Operation.Kind.DECIDE && answer.allowed()) {
                    charges.add(new Charged(demand.subject(), demand.limit(), verdict.charge()));
                } else if (!verdict.allowed()) {
                    wait = verdict.availableAt() - answer.now();
                }
            }
        }
        while (charges.size() > MOST_CHARGES) {
            charges.remove(random.nextInt(charges.size()));
        }
    }

    private Operation operation() {
        int dice = random.nextInt(100);
        if (dice < 12 && !charges.isEmpty()) {
            return settlement();
        }
        Operation.Kind kind = kind(dice);
        List<Demand> list = new ArrayList<>();
        int size = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(4);
        int first = random.nextInt(LIMITS);
        for (int i = 0; i < size; i++) {
            // Neighbours, so that no limit comes twice.
            Subject subject = SUBJECTS.get(random.nextInt(SUBJECTS.size()));
            Limit limit = tier(subject, current.get((first + i) % LIMITS));
            list.add(counted(new Demand(subject, limit, limits.cost(limit))));
        }
        return new Operation(kind, list);
    }

    private static Operation.Kind kind(int dice) {
        if (dice < 24) {
            return Operation.Kind.PEEK;
        }
        return dice < 26 ? Operation.Kind.RESET : dice < 28 ? Operation.Kind.VIOLATE : Operation.Kind.DECIDE;
    }

    /** Changes an earlier charge, perhaps one of a limit that was defined differently then. */
    private Operation settlement() {
        Charged charged = charges.get(random.nextInt(charges.size()));
        Limit limit = charged.limit();
        if (random.nextInt(4) > 0) {
            limit = tier(
                    charged.subject(),
                    current.stream()
                            .filter(one -> one.name().equals(charged.limit().name()))
                            .findFirst()
                            .orElseThrow());
        }
        long cost = switch (random.nextInt(3)) {
            case 0 -> 0;
            case 1 ->
                Math.min(limit.capacity(), random.nextLong(1 + charged.charge().cost()));
            default -> limits.cost(limit);
        };
        return new Operation(
                Operation.Kind.SETTLE, List.of(counted(new Demand(charged.subject(), limit, cost, charged.charge()))));
    }

    private void redefine(int number) {
        Limit before = current.get(number);
        current.set(number, limits.next(before.name(), random.nextBoolean() ? kindOf(before.algorithm()) : kind()));
        redefineOtherTier(current.get(number));
    }

    /** For half of the limits; often of the same algorithm, sometimes with nothing but another rate. */
    private void redefineOtherTier(Limit limit) {
        otherTier.remove(limit.name());
        if (random.nextBoolean()) {
            return;
        }
        Limit other = limits.next(limit.name(), random.nextInt(3) > 0 ? kindOf(limit.algorithm()) : kind());
        if (other.algorithm() instanceof TokenBucket bucket
                && limit.capacity() <= LONGEST_LOG
                && random.nextBoolean()) {
            other = Limit.named(limit.name())
                    .algorithm(new TokenBucket(
                            limit.capacity(),
                            bucket.capacity() <= LONGEST_LOG ? bucket.refill() : Rate.perSecond(LONGEST_LOG)))
                    .build();
        }
        otherTier.put(limit.name(), other);
    }

    /** The limit as it is for the subject: the first of them is of another tier. */
    private Limit tier(Subject subject, Limit limit) {
        return subject.equals(SUBJECTS.get(0)) ? otherTier.getOrDefault(limit.name(), limit) : limit;
    }

    private void moveClock() {
        long scale = RandomLimits.scale(current.get(random.nextInt(LIMITS)).algorithm());
        long step = switch (random.nextInt(16)) {
            case 0, 1 -> 0;
            case 2 -> 1;
            case 3 -> 1 + random.nextInt(1_000_000);
            case 4 -> scale;
            case 5 -> scale - Math.floorMod(now(), scale);
            case 6 -> 2 * scale - Math.floorMod(now(), scale) - 1;
            case 7 -> random.nextLong(3 * scale);
            case 8, 9 -> wait;
            case 10 -> Math.max(0, wait - 1);
            case 11 -> -back();
            default -> random.nextLong(1 + scale / 4);
        };
        clock.set(clock.instant().plus(Micros.toDuration(Math.min(step, Micros.of(Duration.ofDays(400))))));
        if (clock.instant().isBefore(EARLIEST) || clock.instant().isAfter(EARLIEST.plus(Duration.ofDays(365 * 10)))) {
            clock.set(anyMoment());
        } else if (random.nextInt(20) == 0) {
            clock.set(nearClockChange());
        }
    }

    /** By less than the tolerance, by exactly as much, and by more. */
    private long back() {
        return switch (random.nextInt(6)) {
            case 0 -> 1;
            case 1 -> random.nextInt(1_000_000);
            case 2 -> 1_000_000;
            case 3 -> 1_000_001;
            case 4 -> random.nextLong(600_000_000L);
            default -> random.nextLong(20_000_000_000L);
        };
    }

    private Instant anyMoment() {
        return EARLIEST.plus(Micros.toDuration(random.nextLong(Micros.of(Duration.ofDays(3 * 365)))));
    }

    private Instant nearClockChange() {
        Instant moment = anyMoment();
        ZoneOffsetTransition change = RandomLimits.ZONES
                .get(random.nextInt(RandomLimits.ZONES.size()))
                .getRules()
                .nextTransition(moment);
        return change == null
                ? moment
                : change.getInstant().minus(Micros.toDuration(random.nextLong(Micros.of(Duration.ofHours(3)))));
    }

    private long now() {
        return Micros.of(clock.instant());
    }

    private Kind kind() {
        return KINDS.get(random.nextInt(KINDS.size()));
    }

    private Demand counted(Demand demand) {
        demands.merge(kindOf(demand.limit().algorithm()), 1, Integer::sum);
        return demand;
    }

    private static Kind kindOf(Algorithm algorithm) {
        if (algorithm instanceof FixedWindow fixed) {
            return fixed.alignment() instanceof Window.Span ? Kind.FIXED_SPAN : Kind.FIXED_CALENDAR;
        }
        if (algorithm instanceof SlidingWindow) {
            return Kind.SLIDING_WINDOW;
        }
        if (algorithm instanceof SlidingLog) {
            return Kind.SLIDING_LOG;
        }
        if (algorithm instanceof LeakyBucket bucket) {
            return bucket.givesTurns() ? Kind.LEAKY_QUEUE : Kind.LEAKY_METER;
        }
        return Kind.TOKEN_BUCKET;
    }
}
