-- Decides a group of operations as rate_limit_decide_v1 does, with the same answers and the same rows, but admits what
-- can be admitted outright in one statement. What that leaves is decided by rate_limit_decide_v1, in the same
-- transaction: a denial, a penalty, a peek, a settlement, a clock that was set back, a limit with a new rate.
--
--   1. The caller has added up what the operations of the group take of each key. In the order of the keys, so that groups
--      never deadlock, each row is locked and charged with the sum if it has room for all of it, or inserted with it if
--      it does not exist. The clock is read for each row while its lock is held.
--   2. For a row without room for the sum nothing is changed, but it stays locked. Its operations are decided one by one.
--   3. Operations over several keys are admitted together or not at all: see rate_limit_decide_linked_v2.
--
-- An upsert looks rows up by their key whatever the planner knows of the table, so that no plan reads all of it. What the
-- limit of a row is comes from its resource: a group has no two limits of one name.
--
-- A row that was charged is answered with its state, from which the caller knows what each operation was told; other
-- operations are answered as by rate_limit_decide_v1, in their order.

-- The moments of a log after the given one.
CREATE FUNCTION "${flyway:defaultSchema}".rate_limit_log_after_v2(log bytea, moment bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
    bound  CONSTANT bytea := int8send(moment);
    low    int := 0;
    high   int := length(log) / 8;
    middle int;
BEGIN
    IF high > 0 AND substring(log FROM 1 FOR 8) > bound THEN
        RETURN log;
    END IF;
    WHILE low < high LOOP
        middle := (low + high) / 2;
        IF substring(log FROM middle * 8 + 1 FOR 8) > bound THEN
            high := middle;
        ELSE
            low := middle + 1;
        END IF;
    END LOOP;
    RETURN substring(log FROM low * 8 + 1);
END
$function$;

-- Where the window of the calendar that holds the moment begins, and how long it is; as in rate_limit_decide_v1.
CREATE FUNCTION "${flyway:defaultSchema}".rate_limit_calendar_v2(
    unit text, zone text, moment bigint, OUT start bigint, OUT size bigint
) LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $function$
DECLARE
    local timestamp := (timestamptz 'epoch' + moment * interval '1 microsecond') AT TIME ZONE zone;
    step  interval;
    shift bigint;
BEGIN
    IF unit = 'hour' THEN
        start := moment - (extract(epoch FROM local) * 1000000)::bigint % 3600000000;
        -- Not zero if the clock has been changed by half an hour since: then the hour began with it.
        local := (timestamptz 'epoch' + start * interval '1 microsecond') AT TIME ZONE zone;
        shift := (extract(epoch FROM local) * 1000000)::bigint % 3600000000;
        start := start + shift;
        size := 3600000000 - shift;
    ELSE
        step := ('1 ' || unit)::interval;
        local := date_trunc(unit, local);
        start := (extract(epoch FROM local AT TIME ZONE zone) * 1000000)::bigint;
        IF start > moment THEN
            local := local - step;
            start := (extract(epoch FROM local AT TIME ZONE zone) * 1000000)::bigint;
        END IF;
        size := (extract(epoch FROM (local + step) AT TIME ZONE zone) * 1000000)::bigint - start;
    END IF;
END
$function$;

CREATE FUNCTION "${flyway:defaultSchema}".rate_limit_decide_v2(
    p_durable   boolean,    -- whether the commit waits for the disk
    p_linked    boolean,    -- whether an operation has several keys
    p_now       bigint,     -- from here on as in rate_limit_decide_v1
    p_subject   text[],
    p_resource  text[],
    p_writes    boolean[],
    p_limit     int[],      -- the limit of each key; NULL if the group is to be left to rate_limit_decide_v1
    p_take      bigint[],   -- what all operations take of the key: requests; for buckets, units
    p_calendar  boolean,    -- whether a limit has windows of the calendar
    l_resource  text[],     -- the names of the limits
    l_kind      int[],      -- 1 token-bucket, 2 leaky-bucket, 3 fixed-window, 4 sliding-window, 5 sliding-log
    l_name      text[],
    l_max       bigint[],
    l_size      bigint[],
    l_rate      bigint[],
    l_ahead     bigint[],
    l_unit      text[],
    l_zone      text[],
    l_interval  bigint[],
    l_forget    bigint[],
    l_tier      int[],
    t_after     bigint[],
    t_block     bigint[],
    d_operation int[],
    d_kind      smallint[],
    d_key       int[],
    d_limit     int[],
    d_cost      bigint[],
    d_at        bigint[],
    d_charged   bigint[],
    d_tokens    bigint[]
) RETURNS TABLE (
    subject text, resource text, -- of a row that was charged; else NULL
    at bigint,
    window_start bigint, window_size bigint, request_count bigint, previous_count bigint, tokens bigint,
    outcome smallint, remaining bigint, reset_at bigint, available_at bigint, delay bigint,
    penalty_until bigint, charged_at bigint, charged_tokens bigint
) LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
    calendar record;
    l_start  bigint[]; -- where the windows of the calendar begin
    l_only   int := CASE WHEN cardinality(l_resource) = 1 THEN 1 END;
    charged  int := 0;
    taken    boolean[] := '{}';
BEGIN
    -- Nobody waits longer for a row than this, even if its client has given up and gone.
    PERFORM set_config('lock_timeout', '1s', true);
    IF NOT p_durable THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;

    IF p_limit IS NOT NULL THEN
        IF p_calendar THEN
            FOR i IN 1 .. cardinality(l_unit) LOOP
                IF l_unit[i] IS NOT NULL THEN
                    calendar := "${flyway:defaultSchema}".rate_limit_calendar_v2(l_unit[i], l_zone[i],
                        coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint));
                    l_start[i] := calendar.start;
                    l_size[i] := calendar.size;
                END IF;
            END LOOP;
        END IF;

        RETURN QUERY
        INSERT INTO "${flyway:defaultSchema}".rate_limits AS state
            (user_id, resource, algorithm, window_start, window_size, request_count, tokens, log, last_request_at,
             last_allowed_at, expires_at)
        SELECT fresh.subject, fresh.resource, l_name[fresh.l], fresh.start, l_size[fresh.l],
               CASE WHEN l_kind[fresh.l] IN (3, 4) THEN fresh.take ELSE 0 END,
               CASE l_kind[fresh.l] WHEN 1 THEN l_max[fresh.l] - fresh.take WHEN 2 THEN fresh.take ELSE 0 END,
               CASE l_kind[fresh.l] WHEN 5
                   THEN decode(repeat(encode(int8send(fresh.clock), 'hex'), fresh.take::int), 'hex') END,
               fresh.clock, fresh.clock,
               greatest(
                   CASE l_kind[fresh.l]
                       WHEN 3 THEN fresh.start + l_size[fresh.l]
                       WHEN 4 THEN fresh.start + 2 * l_size[fresh.l]
                       WHEN 5 THEN fresh.clock + l_size[fresh.l]
                       ELSE fresh.clock + (fresh.take + l_rate[fresh.l] - 1) / l_rate[fresh.l]
                   END,
                   CASE WHEN l_interval[fresh.l] > 0 THEN fresh.clock + l_interval[fresh.l] END)
        FROM (
            SELECT key.*,
                   CASE WHEN l_kind[key.l] IN (3, 4)
                       THEN coalesce(l_start[key.l], key.clock - key.clock % l_size[key.l]) ELSE key.clock END AS start
            FROM (
                SELECT one.subject, one.resource, one.l, one.take,
                       coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS clock
                FROM unnest(p_subject, p_resource, p_limit, p_take) AS one (subject, resource, l, take)
                ORDER BY one.subject COLLATE "C", one.resource COLLATE "C"
                OFFSET 0
            ) key
            OFFSET 0
        ) fresh
        ON CONFLICT (user_id, resource) DO UPDATE
        SET (window_start, window_size, request_count, previous_count, tokens, log, last_request_at, last_allowed_at,
             expires_at) = (
            SELECT now.start, l_size[now.l], now.count, now.previous,
                   CASE l_kind[now.l] WHEN 1 THEN l_max[now.l] - now.water WHEN 2 THEN now.water ELSE 0 END,
                   CASE WHEN l_kind[now.l] = 5 THEN
                       coalesce("${flyway:defaultSchema}".rate_limit_log_after_v2(state.log, now.clock - l_size[now.l]), '')
                       || decode(repeat(encode(int8send(now.clock), 'hex'), length(excluded.log) / 8), 'hex') END,
                   now.clock, now.clock,
                   greatest(
                       CASE l_kind[now.l]
                           WHEN 3 THEN now.start + l_size[now.l]
                           WHEN 4 THEN now.start + 2 * l_size[now.l]
                           WHEN 5 THEN now.clock + l_size[now.l]
                           ELSE now.clock + (now.water + l_rate[now.l] - 1) / l_rate[now.l]
                       END,
                       CASE WHEN l_interval[now.l] > 0 THEN now.clock + l_interval[now.l] END)
            FROM (
                SELECT moment.l, moment.clock, moment.start,
                       CASE WHEN l_kind[moment.l] IN (3, 4) THEN excluded.request_count
                           + CASE WHEN state.last_request_at >= moment.start THEN state.request_count ELSE 0 END
                           ELSE 0 END AS count,
                       CASE WHEN l_kind[moment.l] <> 4 THEN 0
                           WHEN state.last_request_at >= moment.start THEN state.previous_count
                           WHEN state.last_request_at >= moment.start - l_size[moment.l] THEN state.request_count
                           ELSE 0 END AS previous,
                       CASE l_kind[moment.l]
                           WHEN 1 THEN l_max[moment.l] - excluded.tokens + greatest(0,
                               CASE WHEN moment.clock - state.last_request_at
                                       >= (l_max[moment.l] - state.tokens + l_rate[moment.l] - 1) / l_rate[moment.l] THEN 0
                                   ELSE l_max[moment.l] - state.tokens
                                       - (moment.clock - state.last_request_at) * l_rate[moment.l] END)
                           WHEN 2 THEN excluded.tokens +
                               CASE WHEN moment.clock - state.last_request_at
                                       >= (state.tokens + l_rate[moment.l] - 1) / l_rate[moment.l] THEN 0
                                   ELSE state.tokens - (moment.clock - state.last_request_at) * l_rate[moment.l] END
                       END AS water
                FROM (
                    SELECT moment.l, moment.clock,
                           CASE WHEN l_kind[moment.l] IN (3, 4)
                               THEN coalesce(l_start[moment.l], moment.clock - moment.clock % l_size[moment.l])
                               ELSE moment.clock END AS start
                    FROM (
                        SELECT coalesce(l_only, array_position(l_resource, state.resource)) AS l,
                               greatest(coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
                                   state.last_request_at) AS clock
                        OFFSET 0
                    ) moment
                    OFFSET 0
                ) moment
                OFFSET 0
            ) now
        )
        -- Whether it is later than the first moment with room, which is known from the row alone. What has room once has
        -- room later: so it does no harm that the clock is read again to write the row. Nothing overflows: tokens and units
        -- are no more than 2^61 either way.
        WHERE state.algorithm = excluded.algorithm AND (
            SELECT CASE WHEN l_kind[its.l] <= 2 THEN state.window_size = l_size[its.l]
                    WHEN l_start[its.l] IS NOT NULL THEN its.clock < l_start[its.l] + l_size[its.l] ELSE true END
                AND its.clock >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN l_interval[its.l] > 0 THEN state.last_allowed_at + l_interval[its.l] END,
                    CASE l_kind[its.l]
                        WHEN 1 THEN CASE WHEN state.tokens < l_max[its.l] - excluded.tokens THEN state.last_request_at
                            + (l_max[its.l] - excluded.tokens - state.tokens + l_rate[its.l] - 1) / l_rate[its.l] END
                        -- The caller leaves a queue with several requests to rate_limit_decide_v1.
                        WHEN 2 THEN state.last_request_at + (
                            CASE WHEN l_ahead[its.l] < 0 THEN state.tokens + excluded.tokens - l_max[its.l]
                                ELSE greatest(state.tokens + excluded.tokens - l_max[its.l],
                                    state.tokens - l_ahead[its.l]) END
                            + l_rate[its.l] - 1) / l_rate[its.l]
                        WHEN 3 THEN CASE
                            WHEN state.request_count <= l_max[its.l] - excluded.request_count THEN 0
                            WHEN l_start[its.l] IS NULL THEN
                                state.last_request_at - state.last_request_at % l_size[its.l] + l_size[its.l]
                            WHEN state.last_request_at < l_start[its.l] THEN 0
                            ELSE l_start[its.l] + l_size[its.l] END
                        WHEN 4 THEN CASE
                            WHEN state.request_count + state.previous_count <= l_max[its.l] - excluded.request_count THEN 0
                            WHEN state.request_count <= l_max[its.l] - excluded.request_count THEN
                                state.last_request_at - state.last_request_at % l_size[its.l] + l_size[its.l]
                                - div((l_max[its.l] - excluded.request_count - state.request_count)::numeric
                                    * l_size[its.l], greatest(1, state.previous_count))::bigint
                            ELSE state.last_request_at - state.last_request_at % l_size[its.l] + 2 * l_size[its.l]
                                - div((l_max[its.l] - excluded.request_count)::numeric * l_size[its.l],
                                    greatest(1, state.request_count))::bigint END
                        ELSE CASE WHEN length(state.log) + length(excluded.log) > l_max[its.l] * 8 THEN
                            ('x' || encode(substring(state.log
                                FROM (length(state.log) + length(excluded.log) - l_max[its.l] * 8 - 7)::int FOR 8), 'hex')
                            )::bit(64)::bigint + l_size[its.l] END
                    END)
            FROM (
                SELECT coalesce(l_only, array_position(l_resource, state.resource)) AS l,
                       coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS clock
                OFFSET 0
            ) its
        )
        RETURNING state.user_id, state.resource, state.last_request_at, state.window_start, state.window_size,
            CASE WHEN state.log IS NULL THEN state.request_count ELSE length(state.log) / 8 END, state.previous_count,
            state.tokens, NULL::smallint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint,
            NULL::bigint;
        GET DIAGNOSTICS charged = ROW_COUNT;
        IF charged = cardinality(p_subject) THEN
            RETURN;
        END IF;
        IF p_linked THEN
            RAISE SQLSTATE 'RL001' USING MESSAGE = 'not all have room';
        END IF;
    END IF;

    IF charged > 0 THEN
        -- The rows that this transaction has written are those that were charged.
        PERFORM set_config('enable_seqscan', 'off', true);
        FOR i IN 1 .. cardinality(p_subject) LOOP
            taken[i] := EXISTS (
                SELECT FROM "${flyway:defaultSchema}".rate_limits state
                WHERE state.user_id = p_subject[i] AND state.resource = p_resource[i]
                    AND state.xmin = pg_current_xact_id()::xid);
        END LOOP;
        SELECT array_agg(d.operation ORDER BY d.number), array_agg(d.kind ORDER BY d.number),
               array_agg(d.key ORDER BY d.number), array_agg(d.lim ORDER BY d.number),
               array_agg(d.cost ORDER BY d.number), array_agg(d.at ORDER BY d.number),
               array_agg(d.charged ORDER BY d.number), array_agg(d.tokens ORDER BY d.number)
        INTO d_operation, d_kind, d_key, d_limit, d_cost, d_at, d_charged, d_tokens
        FROM unnest(d_operation, d_kind, d_key, d_limit, d_cost, d_at, d_charged, d_tokens)
            WITH ORDINALITY AS d (operation, kind, key, lim, cost, at, charged, tokens, number)
        WHERE NOT taken[d.key];
    END IF;
    RETURN QUERY
    SELECT NULL::text, NULL::text, rest.at, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint,
           rest.outcome, rest.remaining, rest.reset_at, rest.available_at, rest.delay, rest.penalty_until, rest.charged_at,
           rest.charged_tokens
    FROM "${flyway:defaultSchema}".rate_limit_decide_v1(
        p_now, p_subject, p_resource, p_writes, l_name, l_max, l_size, l_rate, l_ahead, l_unit, l_zone, l_interval, l_forget,
        l_tier, t_after, t_block, d_operation, d_kind, d_key, d_limit, d_cost, d_at, d_charged, d_tokens) rest;
END
$function$;

-- The same for a group with operations over several keys. Where a key has no room for all, what was charged on the others
-- is undone, and every operation decided one by one.
CREATE FUNCTION "${flyway:defaultSchema}".rate_limit_decide_linked_v2(
    p_durable boolean, p_linked boolean, p_now bigint, p_subject text[], p_resource text[], p_writes boolean[],
    p_limit int[], p_take bigint[], p_calendar boolean, l_resource text[], l_kind int[], l_name text[], l_max bigint[],
    l_size bigint[], l_rate bigint[], l_ahead bigint[], l_unit text[], l_zone text[], l_interval bigint[],
    l_forget bigint[], l_tier int[], t_after bigint[], t_block bigint[], d_operation int[], d_kind smallint[],
    d_key int[], d_limit int[], d_cost bigint[], d_at bigint[], d_charged bigint[], d_tokens bigint[]
) RETURNS TABLE (
    subject text, resource text, at bigint,
    window_start bigint, window_size bigint, request_count bigint, previous_count bigint, tokens bigint,
    outcome smallint, remaining bigint, reset_at bigint, available_at bigint, delay bigint,
    penalty_until bigint, charged_at bigint, charged_tokens bigint
) LANGUAGE plpgsql
AS $function$
BEGIN
    BEGIN
        RETURN QUERY
        SELECT * FROM "${flyway:defaultSchema}".rate_limit_decide_v2(
            p_durable, p_linked, p_now, p_subject, p_resource, p_writes, p_limit, p_take, p_calendar, l_resource, l_kind,
            l_name, l_max, l_size, l_rate, l_ahead, l_unit, l_zone, l_interval, l_forget, l_tier, t_after, t_block,
            d_operation, d_kind, d_key, d_limit, d_cost, d_at, d_charged, d_tokens);
        RETURN;
    EXCEPTION WHEN SQLSTATE 'RL001' THEN
        -- Nothing was charged.
    END;
    RETURN QUERY
    SELECT * FROM "${flyway:defaultSchema}".rate_limit_decide_v2(
        p_durable, p_linked, p_now, p_subject, p_resource, p_writes, NULL, NULL, p_calendar, l_resource, l_kind,
        l_name, l_max, l_size, l_rate, l_ahead, l_unit, l_zone, l_interval, l_forget, l_tier, t_after, t_block,
        d_operation, d_kind, d_key, d_limit, d_cost, d_at, d_charged, d_tokens);
END
$function$;
