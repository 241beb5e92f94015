-- Decides a group of operations: the arithmetic of dev.ratelimit.algorithm and the steps of
-- dev.ratelimit.store.GroupArithmetic, held equal to them by a property test.
--
--   1. In the order of their keys, so that groups never deadlock, rows are locked, and inserted if they do not exist.
--   2. All rows are read: no one else can write them any more, nor prune them. Rows that are only peeked at are read
--      without a lock.
--   3. The clock is read, now that the locks are held.
--   4. The operations are decided one after another, in arrays.
--   5. What has changed is written.
--
-- The name carries a version: an instance calls the version that it knows, so that old and new ones run side by side.
CREATE FUNCTION "${flyway:defaultSchema}".rate_limit_decide_v1(
    p_now       bigint,     -- the moment of decision; NULL for the clock of the database
    p_subject   text[],     -- the keys of the group, each once
    p_resource  text[],
    p_writes    boolean[],  -- whether the group may write the key: anything but a peek
    l_name      text[],     -- the limits of the group: the name of the algorithm,
    l_max       bigint[],   -- the most requests; for buckets, the units of a full one
    l_size      bigint[],   -- the length of the window; for buckets, the units of one permit
    l_rate      bigint[],   -- buckets: units in a microsecond
    l_ahead     bigint[],   -- leaky buckets: the most water before a queued request; -1 if it is no queue
    l_unit      text[],     -- calendar windows: hour, day, week, month; else NULL
    l_zone      text[],
    l_interval  bigint[],   -- the least time between two requests
    l_forget    bigint[],   -- when violations are forgotten
    l_tier      int[],      -- where the tiers of the limit begin in t_after; one more entry ends the last
    t_after     bigint[],   -- the tiers of penalties: after so many violations,
    t_block     bigint[],   -- for so long
    d_operation int[],      -- the demands: the operation that each belongs to; those of one operation adjoin
    d_kind      smallint[], -- 0 decide, 1 peek, 2 settle, 3 reset
    d_key       int[],      -- its key, its limit
    d_limit     int[],
    d_cost      bigint[],
    d_at        bigint[],   -- settle: when it was charged,
    d_charged   bigint[],   -- how much,
    d_tokens    bigint[]    -- and what the bucket held after it
) RETURNS TABLE (
    at bigint, outcome smallint, remaining bigint, reset_at bigint, available_at bigint, delay bigint,
    penalty_until bigint, charged_at bigint, charged_tokens bigint
) LANGUAGE plpgsql
-- A plan that was made while the table was small would read all of it for every decision once it has grown.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
-- Nobody waits longer for a row than this, even if its client has given up and gone.
SET lock_timeout = '1s'
AS $function$
#variable_conflict use_variable
DECLARE
    MOST     CONSTANT bigint := 2305843009213693952; -- 2^61: what can be added to without overflow
    clock    bigint;
    -- the rows, by their position
    s_position  int[] := '{}'; -- of the row of each key
    s_key       int[];
    s_tid       tid[];
    s_algorithm text[];
    s_start     bigint[];
    s_size      bigint[];
    s_count     bigint[];
    s_previous  bigint[];
    s_tokens    bigint[];
    s_log       bytea[];
    s_blocked   bigint[];
    s_last      bigint[];
    s_allowed   bigint[];
    s_expires   bigint[];
    s_changed   boolean[];
    changed     boolean := false;
    -- the demands of one operation after they were rolled to their moment
    r_now       bigint[] := '{}';
    r_moved     boolean[] := '{}';
    r_start     bigint[] := '{}';
    r_size      bigint[] := '{}';
    r_count     bigint[] := '{}';
    r_previous  bigint[] := '{}';
    r_tokens    bigint[] := '{}';
    r_log       bytea[]  := '{}';
    r_blocked   bigint[] := '{}';
    r_allowed   bigint[] := '{}';
    r_available bigint[] := '{}';
    r_delay     bigint[] := '{}';
    -- one demand
    demands     int := cardinality(d_operation);
    first_one   int := 1;
    last_one    int;
    kind        smallint;
    all_allowed boolean;
    any_blocked boolean;
    k           int;
    l           int;
    name        text;
    fresh       boolean;
    moved       boolean; -- the clock was set back, and the state with it
    writes      boolean;
    penalized   boolean;
    cost        bigint;
    now_        bigint;
    last_       bigint;
    start_      bigint;
    size_       bigint;
    count_      bigint;
    previous_   bigint;
    tokens_     bigint;
    log_        bytea;
    blocked_    bigint;
    allowed_    bigint;
    rate        bigint;
    room        bigint;
    shift       bigint;
    difference  bigint;
    low         int;
    high        int;
    middle      int;
    entries     int;
    local       timestamp;
    step        interval;
    violations  bigint;
    block       bigint;
BEGIN
    INSERT INTO "${flyway:defaultSchema}".rate_limits (user_id, resource)
    SELECT key.subject, key.resource
    FROM unnest(p_subject, p_resource, p_writes) AS key (subject, resource, writes)
    WHERE key.writes
    ORDER BY key.subject COLLATE "C", key.resource COLLATE "C"
    -- Updates nothing, but locks; a row that is pruned at this moment is inserted anew.
    ON CONFLICT (user_id, resource) DO UPDATE SET algorithm = excluded.algorithm WHERE false;

    SELECT array_agg(r.number::int), array_agg(r.tid), array_agg(r.algorithm), array_agg(r.window_start),
           array_agg(r.window_size), array_agg(r.request_count), array_agg(r.previous_count), array_agg(r.tokens),
           array_agg(coalesce(r.log, '')), array_agg(r.blocked_until), array_agg(r.last_request_at),
           array_agg(r.last_allowed_at), array_agg(r.expires_at), array_agg(false)
    INTO s_key, s_tid, s_algorithm, s_start, s_size, s_count, s_previous, s_tokens, s_log, s_blocked, s_last,
         s_allowed, s_expires, s_changed
    FROM (
        SELECT key.number, state.ctid AS tid, state.*
        FROM unnest(p_subject, p_resource) WITH ORDINALITY AS key (subject, resource, number)
        JOIN "${flyway:defaultSchema}".rate_limits state ON state.user_id = key.subject AND state.resource = key.resource
    ) r;

    clock := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);

    FOR i IN 1 .. coalesce(cardinality(s_key), 0) LOOP
        s_position[s_key[i]] := i;
    END LOOP;

    WHILE first_one <= demands LOOP
        last_one := first_one;
        WHILE last_one < demands AND d_operation[last_one + 1] = d_operation[first_one] LOOP
            last_one := last_one + 1;
        END LOOP;
        kind := d_kind[first_one];
        all_allowed := true;
        any_blocked := false;

        -- Each demand is looked at; nothing is changed yet.
        FOR i IN first_one .. last_one LOOP
            k := s_position[d_key[i]];
            l := d_limit[i];
            name := l_name[l];
            cost := d_cost[i];
            IF kind = 3 THEN
                s_algorithm[k] := '';
                s_start[k] := 0;
                s_size[k] := 0;
                s_count[k] := 0;
                s_previous[k] := 0;
                s_tokens[k] := 0;
                s_log[k] := '';
                s_blocked[k] := 0;
                s_last[k] := 0;
                s_allowed[k] := 0;
                s_expires[k] := 0;
                s_changed[k] := true;
                changed := true;
                DELETE FROM "${flyway:defaultSchema}".rate_limit_penalties penalty
                WHERE penalty.user_id = p_subject[d_key[i]] AND penalty.resource = p_resource[d_key[i]];
            END IF;

            IF k IS NULL THEN
                last_ := 0;
                blocked_ := 0;
                allowed_ := 0;
                fresh := true;
            ELSE
                last_ := s_last[k];
                blocked_ := s_blocked[k];
                allowed_ := s_allowed[k];
                fresh := s_algorithm[k] <> name;
            END IF;
            IF fresh THEN
                count_ := 0;
                previous_ := 0;
                tokens_ := 0;
                log_ := '';
            ELSE
                count_ := s_count[k];
                previous_ := s_previous[k];
                tokens_ := s_tokens[k];
                log_ := s_log[k];
            END IF;

            -- The moment: the row's clock never goes back, unless it was set back by more than a second.
            now_ := clock;
            moved := false;
            IF last_ > clock THEN
                shift := last_ - clock;
                IF shift > 1000000 THEN
                    moved := true;
                    IF previous_ > 0 THEN
                        count_ := count_ + div(previous_::numeric * (s_start[k] + s_size[k] - last_) + s_size[k] - 1, s_size[k])::bigint;
                        previous_ := 0;
                    END IF;
                    last_ := clock;
                    blocked_ := greatest(0, blocked_ - shift);
                    allowed_ := allowed_ - shift;
                    IF length(log_) > 0 THEN
                        SELECT string_agg(int8send(('x' || encode(substring(log_ FROM n * 8 + 1 FOR 8), 'hex'))::bit(64)::bigint - shift), '' ORDER BY n)
                        INTO log_
                        FROM generate_series(0, length(log_) / 8 - 1) n;
                    END IF;
                ELSE
                    now_ := last_;
                END IF;
            END IF;

            -- The state as of that moment, and from when on there is room.
            size_ := l_size[l];
            delay := 0;
            IF name = 'token-bucket' THEN
                rate := l_rate[l];
                start_ := now_;
                IF fresh THEN
                    tokens_ := l_max[l];
                ELSE
                    IF s_size[k] <> size_ THEN
                        IF tokens_ >= 0 THEN
                            tokens_ := least(l_max[l], div(tokens_::numeric * size_, s_size[k]));
                        ELSE
                            tokens_ := -least(MOST, div(-tokens_::numeric * size_ + s_size[k] - 1, s_size[k]));
                        END IF;
                    END IF;
                    tokens_ := least(l_max[l], tokens_);
                    IF now_ - last_ >= (l_max[l] - tokens_ + rate - 1) / rate THEN
                        tokens_ := l_max[l];
                    ELSE
                        tokens_ := tokens_ + (now_ - last_) * rate;
                    END IF;
                END IF;
                room := cost * size_ - tokens_;
                available_at := CASE WHEN room <= 0 THEN now_ ELSE now_ + (room + rate - 1) / rate END;
            ELSIF name = 'fixed-window' THEN
                IF l_unit[l] IS NULL THEN
                    start_ := now_ - now_ % size_;
                ELSE
                    local := (timestamptz 'epoch' + now_ * interval '1 microsecond') AT TIME ZONE l_zone[l];
                    IF l_unit[l] = 'hour' THEN
                        start_ := now_ - (extract(epoch FROM local) * 1000000)::bigint % 3600000000;
                        -- Not zero if the clock has been changed by half an hour since: then the hour began with it.
                        local := (timestamptz 'epoch' + start_ * interval '1 microsecond') AT TIME ZONE l_zone[l];
                        shift := (extract(epoch FROM local) * 1000000)::bigint % 3600000000;
                        start_ := start_ + shift;
                        size_ := 3600000000 - shift;
                    ELSE
                        step := ('1 ' || l_unit[l])::interval;
                        local := date_trunc(l_unit[l], local);
                        start_ := (extract(epoch FROM local AT TIME ZONE l_zone[l]) * 1000000)::bigint;
                        IF start_ > now_ THEN
                            local := local - step;
                            start_ := (extract(epoch FROM local AT TIME ZONE l_zone[l]) * 1000000)::bigint;
                        END IF;
                        size_ := (extract(epoch FROM (local + step) AT TIME ZONE l_zone[l]) * 1000000)::bigint - start_;
                    END IF;
                END IF;
                IF last_ < start_ THEN
                    count_ := 0;
                END IF;
                available_at := CASE WHEN count_ <= l_max[l] - cost THEN now_ ELSE start_ + size_ END;
            ELSIF name = 'sliding-window' THEN
                start_ := now_ - now_ % size_;
                IF last_ < start_ THEN
                    previous_ := CASE WHEN last_ >= start_ - size_ THEN count_ ELSE 0 END;
                    count_ := 0;
                END IF;
                room := l_max[l] - count_ - cost;
                IF room >= 0 THEN
                    available_at := CASE WHEN previous_ <= room THEN now_
                        ELSE greatest(now_, start_ + size_ - div(room::numeric * size_, previous_)::bigint) END;
                ELSE
                    room := l_max[l] - cost;
                    available_at := CASE WHEN count_ <= room THEN start_ + size_
                        ELSE start_ + 2 * size_ - div(room::numeric * size_, count_)::bigint END;
                END IF;
            ELSIF name = 'sliding-log' THEN
                start_ := now_;
                entries := length(log_) / 8;
                low := 0;
                high := entries;
                WHILE low < high LOOP
                    middle := (low + high) / 2;
                    IF substring(log_ FROM middle * 8 + 1 FOR 8) > int8send(now_ - size_) THEN
                        high := middle;
                    ELSE
                        low := middle + 1;
                    END IF;
                END LOOP;
                IF low > 0 THEN
                    log_ := substring(log_ FROM low * 8 + 1);
                    entries := entries - low;
                END IF;
                room := entries + cost - l_max[l];
                available_at := CASE WHEN room <= 0 THEN now_
                    ELSE ('x' || encode(substring(log_ FROM room::int * 8 - 7 FOR 8), 'hex'))::bit(64)::bigint + size_ END;
            ELSE
                rate := l_rate[l];
                start_ := now_;
                IF NOT fresh THEN
                    IF s_size[k] <> size_ THEN
                        tokens_ := least(MOST, div(tokens_::numeric * size_ + s_size[k] - 1, s_size[k]));
                    END IF;
                    IF now_ - last_ >= (tokens_ + rate - 1) / rate THEN
                        tokens_ := 0;
                    ELSE
                        tokens_ := tokens_ - (now_ - last_) * rate;
                    END IF;
                END IF;
                IF l_ahead[l] >= 0 THEN
                    room := greatest(tokens_ + cost * size_ - l_max[l], tokens_ - l_ahead[l]);
                    delay := (tokens_ + rate - 1) / rate;
                ELSE
                    room := tokens_ + cost * size_ - l_max[l];
                END IF;
                available_at := CASE WHEN room <= 0 THEN now_ ELSE now_ + (room + rate - 1) / rate END;
            END IF;

            IF l_interval[l] > 0 AND allowed_ > 0 THEN
                available_at := greatest(available_at, allowed_ + l_interval[l]);
            END IF;
            available_at := greatest(available_at, blocked_);
            all_allowed := all_allowed AND available_at <= now_;
            any_blocked := any_blocked OR blocked_ > now_;

            r_now[i] := now_;
            r_moved[i] := moved;
            r_start[i] := start_;
            r_size[i] := size_;
            r_count[i] := count_;
            r_previous[i] := previous_;
            r_tokens[i] := tokens_;
            r_log[i] := log_;
            r_blocked[i] := blocked_;
            r_allowed[i] := allowed_;
            r_available[i] := available_at;
            r_delay[i] := delay;
        END LOOP;

        -- All are charged, or none; or an earlier charge is changed.
        FOR i IN first_one .. last_one LOOP
            k := s_position[d_key[i]];
            l := d_limit[i];
            name := l_name[l];
            cost := d_cost[i];
            rate := l_rate[l];
            now_ := r_now[i];
            start_ := r_start[i];
            size_ := r_size[i];
            count_ := r_count[i];
            previous_ := r_previous[i];
            tokens_ := r_tokens[i];
            log_ := r_log[i];
            blocked_ := r_blocked[i];
            allowed_ := r_allowed[i];
            available_at := r_available[i];
            delay := CASE WHEN available_at <= now_ THEN r_delay[i] ELSE 0 END;
            outcome := CASE WHEN blocked_ > now_ THEN 2 WHEN available_at <= now_ THEN 0 ELSE 1 END;
            writes := kind IN (0, 2) AND r_moved[i];

            IF kind = 0 AND all_allowed THEN
                writes := true;
                allowed_ := now_;
                IF name = 'token-bucket' THEN
                    tokens_ := tokens_ - cost * size_;
                ELSIF name = 'leaky-bucket' THEN
                    tokens_ := tokens_ + cost * size_;
                ELSIF name = 'sliding-log' THEN
                    log_ := log_ || decode(repeat(encode(int8send(now_), 'hex'), cost::int), 'hex');
                ELSE
                    count_ := count_ + cost;
                END IF;
            ELSIF kind = 0 AND NOT any_blocked AND available_at > now_ AND l_tier[l] < l_tier[l + 1] THEN
                -- A violation. The lock on the state is held, so nobody else counts for this key.
                SELECT penalty.violation_count, penalty.last_violation_at, penalty.penalty_until, penalty.penalty_duration
                INTO violations, difference, room, block
                FROM "${flyway:defaultSchema}".rate_limit_penalties penalty
                WHERE penalty.user_id = p_subject[d_key[i]] AND penalty.resource = p_resource[d_key[i]];
                IF violations IS NULL OR now_ - difference >= l_forget[l] THEN
                    violations := 1;
                    room := 0;
                    block := 0;
                ELSE
                    violations := least(MOST, violations + 1);
                END IF;
                penalized := false;
                FOR n IN REVERSE l_tier[l + 1] - 1 .. l_tier[l] LOOP
                    IF t_after[n] <= violations THEN
                        block := t_block[n];
                        room := now_ + block;
                        penalized := true;
                        writes := true;
                        blocked_ := room;
                        available_at := greatest(available_at, blocked_);
                        EXIT;
                    END IF;
                END LOOP;
                INSERT INTO "${flyway:defaultSchema}".rate_limit_penalties
                    (user_id, resource, violation_count, last_violation_at, penalty_until, penalty_duration, forget_at)
                VALUES (p_subject[d_key[i]], p_resource[d_key[i]], violations, now_, room, block,
                        now_ + greatest(l_forget[l], CASE WHEN penalized THEN block ELSE 0 END))
                ON CONFLICT (user_id, resource) DO UPDATE
                SET violation_count = excluded.violation_count, last_violation_at = excluded.last_violation_at,
                    penalty_until = excluded.penalty_until, penalty_duration = excluded.penalty_duration,
                    forget_at = excluded.forget_at;
            ELSIF kind = 2 AND (k IS NULL OR s_algorithm[k] = '' OR (s_algorithm[k] = name AND s_size[k] = size_)) THEN
                writes := true;
                difference := cost - d_charged[i];
                -- A charge of a later moment was made before the clock was set back.
                d_at[i] := least(d_at[i], now_);
                IF name = 'token-bucket' THEN
                    IF difference <= 0 THEN
                        room := greatest(0, now_ - d_at[i]);
                        IF room >= (l_max[l] - d_tokens[i] + rate - 1) / rate THEN
                            room := 0;
                        ELSE
                            room := l_max[l] - d_tokens[i] - room * rate;
                        END IF;
                        tokens_ := least(l_max[l], tokens_ + least(-difference::numeric * size_, room)::bigint);
                    ELSE
                        tokens_ := greatest(-MOST, tokens_ - difference * size_);
                    END IF;
                ELSIF name = 'leaky-bucket' THEN
                    IF difference <= 0 THEN
                        room := greatest(0, now_ - d_at[i]);
                        IF room >= (d_tokens[i] + rate - 1) / rate THEN
                            room := 0;
                        ELSE
                            room := d_tokens[i] - room * rate;
                        END IF;
                        tokens_ := greatest(0, tokens_ - least(-difference::numeric * size_, room)::bigint);
                    ELSE
                        tokens_ := least(MOST, tokens_ + difference * size_);
                    END IF;
                ELSIF name = 'sliding-log' THEN
                    IF d_at[i] > now_ - size_ THEN
                        entries := length(log_) / 8;
                        high := entries;
                        WHILE high > 0 AND substring(log_ FROM high * 8 - 7 FOR 8) > int8send(d_at[i]) LOOP
                            high := high - 1;
                        END LOOP;
                        IF difference <= 0 THEN
                            low := high;
                            WHILE low > 0 AND high - low < -difference AND substring(log_ FROM low * 8 - 7 FOR 8) = int8send(d_at[i]) LOOP
                                low := low - 1;
                            END LOOP;
                            log_ := substring(log_ FROM 1 FOR low * 8) || substring(log_ FROM high * 8 + 1);
                        ELSE
                            log_ := substring(log_ FROM 1 FOR high * 8)
                                || decode(repeat(encode(int8send(d_at[i]), 'hex'), least(difference, greatest(0, 2 * l_max[l] - entries))::int), 'hex')
                                || substring(log_ FROM high * 8 + 1);
                        END IF;
                    END IF;
                ELSIF d_at[i] >= start_ THEN
                    count_ := greatest(0, least(MOST, count_ + difference));
                ELSIF name = 'sliding-window' AND d_at[i] >= start_ - size_ THEN
                    previous_ := greatest(0, least(MOST, previous_ + difference));
                END IF;
            END IF;

            -- What is left, and when it is whole again.
            IF name = 'token-bucket' THEN
                remaining := tokens_ / size_;
                reset_at := now_ + (l_max[l] - tokens_ + rate - 1) / rate;
            ELSIF name = 'fixed-window' THEN
                remaining := l_max[l] - count_;
                reset_at := CASE WHEN count_ = 0 THEN now_ ELSE start_ + size_ END;
            ELSIF name = 'sliding-window' THEN
                remaining := l_max[l] - count_;
                IF previous_ > 0 THEN
                    remaining := remaining - div(previous_::numeric * (size_ - (now_ - start_)) + size_ - 1, size_)::bigint;
                END IF;
                reset_at := CASE WHEN count_ > 0 THEN start_ + 2 * size_ WHEN previous_ > 0 THEN start_ + size_ ELSE now_ END;
            ELSIF name = 'sliding-log' THEN
                entries := length(log_) / 8;
                remaining := l_max[l] - entries;
                reset_at := CASE WHEN entries = 0 THEN now_
                    ELSE ('x' || encode(substring(log_ FROM entries * 8 - 7), 'hex'))::bit(64)::bigint + size_ END;
            ELSE
                remaining := (l_max[l] - tokens_) / size_;
                IF l_ahead[l] >= 0 THEN
                    remaining := least(remaining,
                        CASE WHEN l_ahead[l] < tokens_ THEN 0 ELSE (l_ahead[l] - tokens_) / size_ + 1 END);
                END IF;
                reset_at := now_ + (tokens_ + rate - 1) / rate;
            END IF;

            IF writes THEN
                changed := true;
                s_changed[k] := true;
                s_algorithm[k] := name;
                s_start[k] := start_;
                s_size[k] := size_;
                s_count[k] := count_;
                s_previous[k] := previous_;
                s_tokens[k] := tokens_;
                s_log[k] := log_;
                s_blocked[k] := blocked_;
                s_last[k] := now_;
                s_allowed[k] := allowed_;
                s_expires[k] := greatest(reset_at, blocked_,
                    CASE WHEN l_interval[l] > 0 AND allowed_ > 0 THEN allowed_ + l_interval[l] ELSE 0 END);
            END IF;

            at := clock;
            remaining := CASE WHEN blocked_ > now_ THEN 0 ELSE greatest(0, remaining) END;
            reset_at := greatest(reset_at, blocked_);
            penalty_until := CASE WHEN blocked_ > now_ THEN blocked_ ELSE 0 END;
            charged_at := now_;
            charged_tokens := tokens_;
            RETURN NEXT;
        END LOOP;
        first_one := last_one + 1;
    END LOOP;

    IF changed THEN
        UPDATE "${flyway:defaultSchema}".rate_limits state
        SET algorithm = next.algorithm, window_start = next.window_start, window_size = next.window_size,
            request_count = next.request_count, previous_count = next.previous_count, tokens = next.tokens,
            log = nullif(next.log, ''), blocked_until = next.blocked_until, last_request_at = next.last_request_at,
            last_allowed_at = next.last_allowed_at, expires_at = next.expires_at
        FROM unnest(s_tid, s_algorithm, s_start, s_size, s_count, s_previous, s_tokens, s_log, s_blocked, s_last,
                    s_allowed, s_expires, s_changed)
            AS next (tid, algorithm, window_start, window_size, request_count, previous_count, tokens, log,
                     blocked_until, last_request_at, last_allowed_at, expires_at, changed)
        WHERE next.changed AND state.ctid = next.tid;
    END IF;
END
$function$;
