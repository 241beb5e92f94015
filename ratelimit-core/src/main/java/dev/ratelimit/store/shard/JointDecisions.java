package dev.ratelimit.store.shard;

import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.shard.JointRequest.Part;
import dev.ratelimit.store.swap.Refunds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Decides requests over subjects on several shards. Each shard decides its part for itself, so that a request is taken in
 * steps, and each step asks all shards at once:
 *
 * <ol>
 *   <li>Look at all limits, unless all are known to have room. Debts are charged with this step.
 *   <li>If a limit has no room, the request is denied, and nothing is charged. If no subject is under a penalty, the shards
 *       of limits with penalties and without room decide their part, which counts the violation.
 *   <li>Otherwise charge all parts. If all shards admit theirs, the request is admitted.
 *   <li>If one denies meanwhile, or fails, give back the parts that were charged. The request is denied, or undecided.
 * </ol>
 *
 * If requests share a key, the first that have room for all of them are taken together, or the first that have none. Then
 * the others are looked at again. After the deadline, nothing more is asked. A crash between the last two steps leaves a charge.
 * Thread-safe.
 */
final class JointDecisions {

    private final ParallelCalls calls;
    private final Refunds refunds;
    private final KnownRoom known;

    /** The latest clock of each shard. */
    private final AtomicLongArray latest;

    JointDecisions(ParallelCalls calls, Refunds refunds, KnownRoom known, int shards) {
        this.calls = calls;
        this.refunds = refunds;
        this.known = known;
        this.latest = new AtomicLongArray(shards);
    }

    /** Decides requests in their order. Each then has an answer or a failure. */
    void decide(List<JointRequest> requests, long end) {
        if (known.hasRoomFor(requests)) {
            charge(requests, end);
            return;
        }
        List<JointRequest> open = requests;
        while (!open.isEmpty()) {
            look(open, end);
            List<JointRequest> seen = seen(open);
            int together = together(seen);
            decideSeen(seen.subList(0, together), end);
            open = seen.subList(together, seen.size());
        }
    }

    /** How many of the first requests can be decided by one look at all of them. */
    private static int together(List<JointRequest> seen) {
        if (!sharesKeys(seen)) {
            return seen.size();
        }
        int denied = 0;
        while (denied < seen.size() && isDeniedWithoutTrace(seen.get(denied))) {
            denied++;
        }
        return denied > 0 ? denied : Math.max(fittingTogether(seen), 1);
    }

    /** A denial changes nothing for the requests after it, unless it counts a violation. */
    private static boolean isDeniedWithoutTrace(JointRequest request) {
        return !request.hasRoom()
                && request.demands().stream()
                        .allMatch(demand -> demand.limit().penalties().isEmpty());
    }

    private void decideSeen(List<JointRequest> seen, long end) {
        List<JointRequest> denied = new ArrayList<>();
        List<JointRequest> admitted = new ArrayList<>();
        seen.forEach(request -> (request.hasRoom() ? admitted : denied).add(request));
        deny(denied, end);
        charge(admitted, end);
    }

    /** The requests that have not failed. */
    private static List<JointRequest> seen(List<JointRequest> requests) {
        return requests.stream().filter(request -> request.failure() == null).toList();
    }

    /** A question about a part of a request. */
    private record PartQuestion(JointRequest request, Part part, Question question) {

        void take() {
            request.take(part, question);
        }
    }

    private void ask(List<PartQuestion> asked, long end) {
        if (asked.isEmpty()) {
            return;
        }
        calls.ask(asked.stream().map(PartQuestion::question).toList(), end, this::answeredLate);
        for (PartQuestion one : asked) {
            if (one.question().isAnswered()) {
                observe(
                        one.question().shard,
                        one.question().operation,
                        one.question().answer());
            }
        }
    }

    private void look(List<JointRequest> requests, long end) {
        List<PartQuestion> asked = new ArrayList<>();
        for (JointRequest request : requests) {
            for (Part part : request.parts()) {
                Question debts = part.bringDebts();
                if (debts != null) {
                    asked.add(new PartQuestion(request, part, debts));
                }
                asked.add(new PartQuestion(request, part, part.question(Kind.PEEK)));
            }
        }
        ask(asked, end);
        for (PartQuestion one : asked) {
            if (one.question().operation.kind() == Kind.PEEK) {
                one.take();
            } else if (one.question().isAnswered()) {
                one.part().broughtDebts();
            }
        }
    }

    private static boolean sharesKeys(List<JointRequest> requests) {
        Set<StateKey> keys = new HashSet<>();
        for (JointRequest request : requests) {
            for (Demand demand : request.demands()) {
                if (!keys.add(demand.key())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** How many of the first requests are all admitted, whatever their order. */
    private static int fittingTogether(List<JointRequest> requests) {
        Map<StateKey, Demand> first = new HashMap<>();
        Map<StateKey, Long> asked = new HashMap<>();
        for (int fitting = 0; fitting < requests.size(); fitting++) {
            JointRequest request = requests.get(fitting);
            for (int i = 0; i < request.demands().size(); i++) {
                Demand demand = request.demands().get(i);
                Demand other = first.putIfAbsent(demand.key(), demand);
                boolean alike = other == null
                        || (other.limit().equals(demand.limit())
                                && !demand.limit().hasMinInterval());
                long total = asked.merge(demand.key(), demand.cost(), Long::sum);
                if (!alike
                        || !request.verdict(i).allowed()
                        || (other != null && total > request.verdict(i).remaining())) {
                    return fitting;
                }
            }
        }
        return requests.size();
    }

    /** Counts violations of requests that were seen to be denied. */
    private void deny(List<JointRequest> requests, long end) {
        List<PartQuestion> violations = new ArrayList<>();
        List<PartQuestion> touched = new ArrayList<>();
        for (JointRequest request : requests) {
            boolean counts = !request.isBlocked();
            for (Part part : request.parts()) {
                if (counts && request.violates(part)) {
                    violations.add(new PartQuestion(request, part, part.question(Kind.DECIDE)));
                } else if (isSetBack(part.shard, request.answer().now())) {
                    touched.add(new PartQuestion(request, part, part.touch()));
                }
            }
        }
        List<PartQuestion> all = new ArrayList<>(violations);
        all.addAll(touched);
        ask(all, end);
        for (PartQuestion one : violations) {
            if (one.question().isCharged()) {
                refunds.giveBackLater(
                        one.question().refund()); // it has room by now; but it was denied when it was looked at
            } else {
                one.take();
            }
        }
    }

    private void charge(List<JointRequest> requests, long end) {
        Map<JointRequest, List<PartQuestion>> byRequest = new HashMap<>();
        List<PartQuestion> asked = new ArrayList<>();
        for (JointRequest request : requests) {
            List<PartQuestion> parts = request.parts().stream()
                    .map(part -> new PartQuestion(request, part, part.question(Kind.DECIDE)))
                    .toList();
            byRequest.put(request, parts);
            asked.addAll(parts);
        }
        ask(asked, end);
        List<PartQuestion> back = new ArrayList<>();
        for (JointRequest request : requests) {
            List<PartQuestion> parts = byRequest.getOrDefault(request, List.of());
            boolean admitted = parts.stream().allMatch(one -> one.question().isCharged());
            parts.forEach(PartQuestion::take);
            if (admitted) {
                known.charged(request.operation(), request.answer());
            } else {
                parts.stream().filter(one -> one.question().isCharged()).forEach(back::add);
            }
        }
        giveBack(back, end);
    }

    /** Gives charges back, and looks again: the answer must not tell of a charge that is gone. */
    private void giveBack(List<PartQuestion> charged, long end) {
        List<PartQuestion> asked = new ArrayList<>();
        for (PartQuestion one : charged) {
            asked.add(new PartQuestion(
                    one.request(),
                    one.part(),
                    new Question(one.part().shard, one.question().refund())));
            asked.add(new PartQuestion(one.request(), one.part(), one.part().question(Kind.PEEK)));
        }
        ask(asked, end);
        for (int i = 0; i < charged.size(); i++) {
            if (asked.get(2 * i).question().isSurelyUndone()) {
                refunds.giveBackLater(charged.get(i).question().refund());
            }
            if (charged.get(i).request().failure() == null
                    && asked.get(2 * i + 1).question().isAnswered()) {
                asked.get(2 * i + 1).take();
            }
        }
    }

    /** Learns from the answer of a shard. */
    void observe(int shard, Operation operation, Answer answer) {
        known.observe(operation, answer);
        if (answer.now() > latest.get(shard)) {
            latest.set(shard, answer.now());
        }
    }

    /** Whether the clock of the shard was set back: then even a denial writes the state, on the clock of now. */
    private boolean isSetBack(int shard, long now) {
        return latest.get(shard) - now > Check.CLOCK_TOLERANCE;
    }

    /** Nobody waits for it any more: a charge is given back, and a refund that was not made is made. */
    void answeredLate(Question question) {
        if (question.isCharged()) {
            refunds.giveBackLater(question.refund());
        } else if (question.isSurelyUndone() && isRefund(question)) {
            refunds.again(question.operation);
        }
    }

    private static boolean isRefund(Question question) {
        Charge charge = question.operation.demands().get(0).charge();
        return question.operation.kind() == Kind.SETTLE && charge != null && charge.forgotten();
    }
}
