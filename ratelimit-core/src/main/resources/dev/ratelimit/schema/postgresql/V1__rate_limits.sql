-- The library runs this script in one transaction, unless ratelimit.store.migrate is false. Then run it yourself:
--     psql --single-transaction --set ON_ERROR_STOP=1 --file V1__rate_limits.sql
-- For another schema, replace "ratelimit." and 'ratelimit'.

-- Times are microseconds since the epoch; zero means never. A time in seconds or milliseconds would be long ago: it is refused
-- where people write one.

DO $do$
BEGIN
    -- IF NOT EXISTS would need the right to create schemas even where there is nothing to create.
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'ratelimit') THEN
        EXECUTE format('CREATE SCHEMA %I', 'ratelimit');
    END IF;
END
$do$;

CREATE TABLE ratelimit.ratelimit_schema_history (
    version    integer     PRIMARY KEY,
    script     text        NOT NULL,
    applied_by text        NOT NULL DEFAULT current_user,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE ratelimit.ratelimit_schema_history IS 'The scripts that have made the tables of rate limits';

-- No column that a decision changes has an index, and a page keeps room for new versions of its rows:
-- so every decision is a heap-only (HOT) update.

CREATE TABLE ratelimit.rate_limits (
    user_id         text COLLATE "C" NOT NULL,
    resource        text COLLATE "C" NOT NULL,
    algorithm       text             NOT NULL DEFAULT '',
    window_start    bigint           NOT NULL DEFAULT 0,
    window_size     bigint           NOT NULL DEFAULT 0,
    capacity        bigint           NOT NULL DEFAULT 0,
    request_count   bigint           NOT NULL DEFAULT 0,
    previous_count  bigint           NOT NULL DEFAULT 0,
    tokens          bigint           NOT NULL DEFAULT 0,
    log             bytea,
    blocked_until   bigint           NOT NULL DEFAULT 0,
    last_request_at bigint           NOT NULL DEFAULT 0,
    last_allowed_at bigint           NOT NULL DEFAULT 0,
    expires_at      bigint           NOT NULL DEFAULT 0,
    version         bigint           NOT NULL DEFAULT 1,
    PRIMARY KEY (user_id, resource)
) WITH (fillfactor = 70);

COMMENT ON TABLE ratelimit.rate_limits IS 'Live state, one row for each subject (user_id) and limit (resource)';
COMMENT ON COLUMN ratelimit.rate_limits.algorithm IS 'that wrote the row; empty if nothing was counted yet; after "moved:VERSION:" if the subject has left for another shard, and nothing after it once the state has arrived there';
COMMENT ON COLUMN ratelimit.rate_limits.window_start IS 'of the window that request_count is of';
COMMENT ON COLUMN ratelimit.rate_limits.window_size IS 'length of the window; for buckets, the units that one permit is';
COMMENT ON COLUMN ratelimit.rate_limits.capacity IS 'the most that the limit could grant when the row was written';
COMMENT ON COLUMN ratelimit.rate_limits.previous_count IS 'of the window before';
COMMENT ON COLUMN ratelimit.rate_limits.tokens IS 'in units: tokens of a token bucket, water in a leaky one';
COMMENT ON COLUMN ratelimit.rate_limits.log IS 'of a sliding log: eight bytes a request, most significant first';
COMMENT ON COLUMN ratelimit.rate_limits.blocked_until IS 'end of the penalty';
COMMENT ON COLUMN ratelimit.rate_limits.last_request_at IS 'when the row was last written';
COMMENT ON COLUMN ratelimit.rate_limits.last_allowed_at IS 'for min-interval';
COMMENT ON COLUMN ratelimit.rate_limits.expires_at IS 'from when on the row says no more than no row';
COMMENT ON COLUMN ratelimit.rate_limits.version IS 'another one after each write, never zero; for decisions by swaps';

CREATE TABLE ratelimit.rate_limit_penalties (
    user_id           text COLLATE "C" NOT NULL,
    resource          text COLLATE "C" NOT NULL,
    violation_count   bigint           NOT NULL,
    last_violation_at bigint           NOT NULL,
    penalty_until     bigint           NOT NULL,
    penalty_duration  bigint           NOT NULL,
    forget_at         bigint           NOT NULL,
    metadata          jsonb,
    PRIMARY KEY (user_id, resource)
) WITH (fillfactor = 70);

COMMENT ON TABLE ratelimit.rate_limit_penalties IS 'How often a subject has violated a limit, kept until forgotten';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.penalty_until IS 'end of the latest penalty, past or not';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.penalty_duration IS 'microseconds';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.forget_at IS 'when the count starts anew';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.metadata IS 'notes of operators';

-- Lists of shards are only ever added. The highest version that any shard has is in force.

CREATE TABLE ratelimit.rate_limit_shards (
    version     integer PRIMARY KEY CHECK (version > 0),
    names       text[]  NOT NULL,
    this_name   text    NOT NULL,
    recorded_at bigint  NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000),
    moved_at    bigint  NOT NULL DEFAULT 0
);

COMMENT ON TABLE ratelimit.rate_limit_shards IS 'The databases that share the subjects; empty if there is only this one';
COMMENT ON COLUMN ratelimit.rate_limit_shards.names IS 'of all shards; limits and rules are in the first';
COMMENT ON COLUMN ratelimit.rate_limit_shards.this_name IS 'of the shard that this database is';
COMMENT ON COLUMN ratelimit.rate_limit_shards.moved_at IS 'when the last state that the list gives to another shard had left this database; zero before';

-- Versions of limits and rules are only ever added. In force of a name is the highest version that has not expired.

CREATE TABLE ratelimit.rate_limit_configs (
    id         bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    resource   text COLLATE "C" NOT NULL,
    version    integer          NOT NULL CHECK (version > 0),
    definition text,
    changed_by text             NOT NULL DEFAULT current_user,
    changed_at bigint           NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000),
    expires_at bigint           NOT NULL DEFAULT 0 CHECK (expires_at = 0 OR expires_at > 100000000000000),
    reason     text,
    metadata   jsonb,
    UNIQUE (resource, version)
);

COMMENT ON TABLE ratelimit.rate_limit_configs IS 'Limits that override those of the configuration, by name (resource)';
COMMENT ON COLUMN ratelimit.rate_limit_configs.definition IS 'lines such as "max-requests: 100"; NULL if what the configuration says applies again';

CREATE TABLE ratelimit.rate_limit_rules (
    id                  bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule_name           text COLLATE "C" NOT NULL,
    version             integer          NOT NULL CHECK (version > 0),
    removed             boolean          NOT NULL DEFAULT false,
    enabled             boolean          NOT NULL DEFAULT true,
    priority            integer          NOT NULL DEFAULT 0,
    user_tier           text,
    endpoint_pattern    text,
    http_method         text,
    ip_range            text,
    authority           text,
    api_key             text,
    limits              text,
    subject_key         text,
    action              text             NOT NULL DEFAULT 'throttle',
    response_status     integer,
    response_message    text,
    retry_after_seconds bigint,
    on_failure          text,
    changed_by          text             NOT NULL DEFAULT current_user,
    changed_at          bigint           NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000),
    expires_at          bigint           NOT NULL DEFAULT 0 CHECK (expires_at = 0 OR expires_at > 100000000000000),
    reason              text,
    metadata            jsonb,
    UNIQUE (rule_name, version)
);

COMMENT ON TABLE ratelimit.rate_limit_rules IS 'Rules that override those of the configuration, by name; lists are separated by commas';
COMMENT ON COLUMN ratelimit.rate_limit_rules.removed IS 'whether what the configuration says applies again';
COMMENT ON COLUMN ratelimit.rate_limit_rules.enabled IS 'false for a rule that does nothing, and hides that of the configuration';
COMMENT ON COLUMN ratelimit.rate_limit_rules.subject_key IS 'user, ip, user+ip, session, api-key or header:NAME; never an expression';

CREATE TABLE ratelimit.user_quotas (
    user_id       text COLLATE "C" PRIMARY KEY,
    tier          text,
    per_second    bigint,
    per_hour      bigint,
    per_day       bigint,
    per_month     bigint,
    burst         bigint,
    zone          text,
    blocked_until bigint NOT NULL DEFAULT 0 CHECK (blocked_until = 0 OR blocked_until > 100000000000000),
    block_reason  text,
    changed_by    text   NOT NULL DEFAULT current_user,
    changed_at    bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000),
    created_at    bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000),
    last_request_at      bigint NOT NULL DEFAULT 0,
    quota_exceeded_count bigint NOT NULL DEFAULT 0
);

COMMENT ON TABLE ratelimit.user_quotas IS 'What is different for a user: tier, numbers that override those of the tier, a block';

CREATE TABLE ratelimit.api_keys (
    id             text COLLATE "C" PRIMARY KEY,
    key_hash       text COLLATE "C" NOT NULL UNIQUE,
    name           text   NOT NULL,
    user_id        text   NOT NULL,
    tier           text,
    per_second     bigint,
    per_hour       bigint,
    per_day        bigint,
    per_month      bigint,
    burst          bigint,
    zone           text,
    created_by     text   NOT NULL DEFAULT current_user,
    created_at     bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000),
    expires_at     bigint NOT NULL DEFAULT 0 CHECK (expires_at = 0 OR expires_at > 100000000000000),
    revoked_at     bigint NOT NULL DEFAULT 0,
    revoked_by     text,
    last_used_at   bigint NOT NULL DEFAULT 0,
    total_requests bigint NOT NULL DEFAULT 0
);

COMMENT ON TABLE ratelimit.api_keys IS 'API keys; nothing here allows to find out a key';
COMMENT ON COLUMN ratelimit.api_keys.key_hash IS 'SHA-256 of the whole key, in lower-case hexadecimal digits';
COMMENT ON COLUMN ratelimit.api_keys.user_id IS 'who owns it';

CREATE TABLE ratelimit.rate_limit_admin_logs (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at   bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000),
    changed_by   text   NOT NULL DEFAULT current_user CHECK (changed_by <> ''),
    action       text   NOT NULL,
    kind         text   NOT NULL CHECK (kind IN ('limit', 'rule', 'quota', 'user', 'api-key', 'subject', 'backup', 'retention')),
    name         text   NOT NULL,
    reason       text,
    expires_at   bigint NOT NULL DEFAULT 0,
    state_before text,
    state_after  text
);

COMMENT ON TABLE ratelimit.rate_limit_admin_logs IS 'Changes by operators, each written in the transaction of the change; rows are only ever added';
COMMENT ON COLUMN ratelimit.rate_limit_admin_logs.action IS 'set, remove, roll-back, switch-off, switch-on, block, unblock, create, revoke, reset, clear-penalty, note or back-up';
COMMENT ON COLUMN ratelimit.rate_limit_admin_logs.name IS 'of the limit, the rule or the user; the id of the API key; the subject';
COMMENT ON COLUMN ratelimit.rate_limit_admin_logs.expires_at IS 'when the change ends by itself';
COMMENT ON COLUMN ratelimit.rate_limit_admin_logs.state_before IS 'a JSON object; NULL if there was nothing';
COMMENT ON COLUMN ratelimit.rate_limit_admin_logs.state_after IS 'a JSON object; NULL if there is nothing';

-- The change feed for instances that cache the tables above. A reader that has seen a revision never misses a smaller
-- one that is committed later: a transaction that takes a revision locks the counter until it ends.
CREATE TABLE ratelimit.rate_limit_revision (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    revision bigint  NOT NULL
);
INSERT INTO ratelimit.rate_limit_revision (revision) VALUES (0);

CREATE TABLE ratelimit.rate_limit_changes (
    revision   bigint PRIMARY KEY,
    kind       text   NOT NULL CHECK (kind IN ('limit', 'rule', 'quota', 'key', 'reset')),
    name       text   NOT NULL,
    changed_at bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000000)
);

COMMENT ON TABLE ratelimit.rate_limit_changes IS 'The latest changes, in the order in which they were committed; filled by triggers';

-- Where changes are announced; an identifier has no room for every name of a schema.
CREATE FUNCTION ratelimit.rate_limit_channel() RETURNS text
LANGUAGE sql IMMUTABLE
AS $function$
    SELECT 'ratelimit_' || md5('ratelimit')
$function$;

CREATE FUNCTION ratelimit.rate_limit_take_revision() RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE ratelimit.rate_limit_revision
    SET revision = rate_limit_revision.revision + 1
    RETURNING rate_limit_revision.revision INTO NEW.revision;
    PERFORM pg_notify(ratelimit.rate_limit_channel(), NEW.revision::text);
    RETURN NEW;
END
$function$;

CREATE TRIGGER rate_limit_take_revision BEFORE INSERT ON ratelimit.rate_limit_changes
FOR EACH ROW EXECUTE FUNCTION ratelimit.rate_limit_take_revision();

-- Arguments: the kind of the change, and the column that names what has changed.
CREATE FUNCTION ratelimit.rate_limit_note_change() RETURNS trigger
LANGUAGE plpgsql
AS $function$
DECLARE
    old_name text := CASE WHEN TG_OP = 'INSERT' THEN NULL ELSE to_jsonb(OLD) ->> TG_ARGV[1] END;
    new_name text := CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE to_jsonb(NEW) ->> TG_ARGV[1] END;
BEGIN
    INSERT INTO ratelimit.rate_limit_changes (kind, name)
    SELECT TG_ARGV[0], changed.name
    FROM (SELECT old_name AS name UNION SELECT new_name) changed
    WHERE changed.name IS NOT NULL;
    RETURN NULL;
END
$function$;

CREATE TRIGGER rate_limit_note_change AFTER INSERT OR UPDATE OR DELETE ON ratelimit.rate_limit_configs
FOR EACH ROW EXECUTE FUNCTION ratelimit.rate_limit_note_change('limit', 'resource');

CREATE TRIGGER rate_limit_note_change AFTER INSERT OR UPDATE OR DELETE ON ratelimit.rate_limit_rules
FOR EACH ROW EXECUTE FUNCTION ratelimit.rate_limit_note_change('rule', 'rule_name');

-- Not last_request_at and quota_exceeded_count: they change all the time, and nobody keeps them in memory.
CREATE TRIGGER rate_limit_note_change AFTER INSERT OR DELETE OR UPDATE OF
    user_id, tier, per_second, per_hour, per_day, per_month, burst, zone, blocked_until, block_reason
ON ratelimit.user_quotas
FOR EACH ROW EXECUTE FUNCTION ratelimit.rate_limit_note_change('quota', 'user_id');

-- Not last_used_at and total_requests: they change all the time, and nobody keeps them in memory.
CREATE TRIGGER rate_limit_note_change AFTER INSERT OR DELETE OR UPDATE OF
    id, key_hash, name, user_id, tier, per_second, per_hour, per_day, per_month, burst, zone, expires_at, revoked_at
ON ratelimit.api_keys
FOR EACH ROW EXECUTE FUNCTION ratelimit.rate_limit_note_change('key', 'id');

-- A table that is emptied at once names nobody. Without the changes before, every reader reads all again.
CREATE FUNCTION ratelimit.rate_limit_note_truncate() RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM ratelimit.rate_limit_changes;
    INSERT INTO ratelimit.rate_limit_changes (kind, name) VALUES (TG_ARGV[0], '');
    RETURN NULL;
END
$function$;

CREATE TRIGGER rate_limit_note_truncate AFTER TRUNCATE ON ratelimit.rate_limit_configs
FOR EACH STATEMENT EXECUTE FUNCTION ratelimit.rate_limit_note_truncate('limit');

CREATE TRIGGER rate_limit_note_truncate AFTER TRUNCATE ON ratelimit.rate_limit_rules
FOR EACH STATEMENT EXECUTE FUNCTION ratelimit.rate_limit_note_truncate('rule');

CREATE TRIGGER rate_limit_note_truncate AFTER TRUNCATE ON ratelimit.user_quotas
FOR EACH STATEMENT EXECUTE FUNCTION ratelimit.rate_limit_note_truncate('quota');

CREATE TRIGGER rate_limit_note_truncate AFTER TRUNCATE ON ratelimit.api_keys
FOR EACH STATEMENT EXECUTE FUNCTION ratelimit.rate_limit_note_truncate('key');

-- The audit trail, and totals over time. Both have one partition for each month (UTC), such as
-- rate_limit_audit_logs_2026_11. They are made ahead and dropped behind by the functions below.

CREATE TABLE ratelimit.rate_limit_audit_logs (
    logged_at           timestamptz      NOT NULL,
    log_id              uuid             NOT NULL,
    user_id             text COLLATE "C",
    api_key_id          text COLLATE "C",
    ip_address          text COLLATE "C",
    endpoint            text,
    http_method         text,
    response_status     integer,
    decision            text             NOT NULL,
    requests            bigint           NOT NULL DEFAULT 1,
    rule_name           text,
    rule_version        integer,
    resource            text COLLATE "C",
    subject             text COLLATE "C",
    current_count       bigint,
    limit_value         bigint,
    retry_after_seconds bigint,
    decided_locally     boolean          NOT NULL DEFAULT false,
    latency_micros      bigint           NOT NULL,
    server_id           text             NOT NULL,
    region              text             NOT NULL,
    PRIMARY KEY (logged_at, log_id)
) PARTITION BY RANGE (logged_at);

-- Allowed requests are by far the most where everything is logged, and nobody looks for them by their decision.
CREATE INDEX rate_limit_audit_logs_by_user ON ratelimit.rate_limit_audit_logs (user_id, logged_at DESC)
WHERE user_id IS NOT NULL;
CREATE INDEX rate_limit_audit_logs_by_decision ON ratelimit.rate_limit_audit_logs (decision, logged_at DESC)
WHERE decision <> 'allowed';

COMMENT ON TABLE ratelimit.rate_limit_audit_logs IS 'Requests and how they came out; by default only those that were not allowed';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.log_id IS 'chosen by the instance, so that a repeated write adds nothing';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.endpoint IS 'the pattern of the handler, such as /api/games/{id}; if none was reached, the path of the first request';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.decision IS 'allowed, throttled, blocked, exempt, unknown_api_key, failed_open or failed_closed';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.requests IS 'equal denials of a moment are one row';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.rule_version IS 'of a stored rule; NULL for one of the configuration';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.resource IS 'the tightest limit that was asked';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.subject IS 'of that limit; user_id in rate_limits';
COMMENT ON COLUMN ratelimit.rate_limit_audit_logs.latency_micros IS 'how long the decisions took; of several requests, the longest';

-- Each request is in exactly one row without a resource, and in one for each limit that was asked. Each instance writes its own
-- totals of a minute, again and again until the minute is over: a repeated write changes nothing. An empty text means: all that
-- have no row of their own.
CREATE TABLE ratelimit.rate_limit_metrics (
    period_start    timestamptz      NOT NULL,
    granularity     text             NOT NULL CHECK (granularity IN ('minute', 'hour', 'day')),
    resource        text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    endpoint        text COLLATE "C" NOT NULL,
    region          text COLLATE "C" NOT NULL,
    instance        text COLLATE "C" NOT NULL,
    total           bigint           NOT NULL,
    allowed         bigint           NOT NULL,
    throttled       bigint           NOT NULL,
    blocked         bigint           NOT NULL,
    exempt          bigint           NOT NULL,
    failed          bigint           NOT NULL,
    cache_hits      bigint           NOT NULL DEFAULT 0,
    cache_misses    bigint           NOT NULL DEFAULT 0,
    last_request_at timestamptz      NOT NULL,
    latency         bytea,
    created_at      timestamptz      NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (period_start, granularity, resource, user_id, endpoint, region, instance)
) PARTITION BY LIST (granularity);

CREATE TABLE ratelimit.rate_limit_metrics_minute PARTITION OF ratelimit.rate_limit_metrics
FOR VALUES IN ('minute') PARTITION BY RANGE (period_start);
CREATE TABLE ratelimit.rate_limit_metrics_hour PARTITION OF ratelimit.rate_limit_metrics
FOR VALUES IN ('hour') PARTITION BY RANGE (period_start);
CREATE TABLE ratelimit.rate_limit_metrics_day PARTITION OF ratelimit.rate_limit_metrics
FOR VALUES IN ('day');

CREATE INDEX rate_limit_metrics_by_user ON ratelimit.rate_limit_metrics (user_id, period_start DESC);

COMMENT ON TABLE ratelimit.rate_limit_metrics IS 'How many requests came and how they came out, for each minute, hour and day (UTC)';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.resource IS 'the limit; empty for whole requests';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.user_id IS 'the subject, such as user:alice; empty for all that have no row of their own';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.instance IS 'one start of an instance; empty in hours and days, which are sums over all of them';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.failed IS 'requests that the store did not decide';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.cache_hits IS 'decisions without the store, by a remembered denial or a lease; in rows without a resource';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.latency IS 'an HdrHistogram of microseconds, in rows without a user: of all users';

-- These two run with the rights of their owner: a role that may not create tables needs no more than to execute them.

-- A table is made and then attached, which lets others read and write the parent meanwhile: CREATE TABLE with
-- PARTITION OF would wait for a long read, and all writes would wait behind it.
CREATE FUNCTION ratelimit.rate_limit_make_partitions(month date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $function$
DECLARE
    first_day date := date_trunc('month', month)::date;
    parent    text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('rate_limit_partitions'), hashtext('ratelimit'));
    FOREACH parent IN ARRAY ARRAY['rate_limit_audit_logs', 'rate_limit_metrics_minute', 'rate_limit_metrics_hour'] LOOP
        IF NOT EXISTS (
            SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'ratelimit' AND c.relname = parent || to_char(first_day, '_YYYY_MM')) THEN
            EXECUTE format(
                'CREATE TABLE ratelimit.%I (LIKE ratelimit.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                parent || to_char(first_day, '_YYYY_MM'), parent);
            EXECUTE format(
                'ALTER TABLE ratelimit.%I ATTACH PARTITION ratelimit.%I FOR VALUES FROM (%L) TO (%L)',
                parent, parent || to_char(first_day, '_YYYY_MM'),
                first_day || ' 00:00:00+00', (first_day + interval '1 month')::date || ' 00:00:00+00');
        END IF;
    END LOOP;
END
$function$;

-- With a number of rows, the month is dropped only if it has exactly that many: rows that came after the export stay. They are
-- counted while none can be added. Returns whether the month was dropped.
CREATE FUNCTION ratelimit.rate_limit_drop_partition(parent text, month date, exported bigint DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    partition text := parent || to_char(month, '_YYYY_MM');
    present   bigint;
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class c ON c.oid = i.inhrelid
            JOIN pg_namespace n ON n.oid = p.relnamespace
        WHERE n.nspname = 'ratelimit' AND p.relname = parent AND c.relname = partition
            AND parent IN ('rate_limit_audit_logs', 'rate_limit_metrics_minute', 'rate_limit_metrics_hour')) THEN
        RETURN false;
    END IF;
    IF exported IS NOT NULL THEN
        EXECUTE format('LOCK TABLE ratelimit.%I IN EXCLUSIVE MODE', partition);
        EXECUTE format('SELECT count(*) FROM ratelimit.%I', partition) INTO present;
        IF present <> exported THEN
            RETURN false;
        END IF;
    END IF;
    EXECUTE format('DROP TABLE ratelimit.%I', partition);
    RETURN true;
END
$function$;

REVOKE EXECUTE ON FUNCTION ratelimit.rate_limit_make_partitions(date) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ratelimit.rate_limit_drop_partition(text, date, bigint) FROM PUBLIC;

SELECT ratelimit.rate_limit_make_partitions((clock_timestamp() AT TIME ZONE 'UTC')::date);
SELECT ratelimit.rate_limit_make_partitions((clock_timestamp() AT TIME ZONE 'UTC' + interval '1 month')::date);

-- Four questions, with times that people can read. Limits on trial (api:candidate, api:shadow) deny nobody: no answer has them.

CREATE VIEW ratelimit.rate_limit_status AS
SELECT user_id, resource, sum(total)::bigint AS requests, sum(throttled + blocked)::bigint AS denied,
    max(last_request_at) AS last_request_at, count(DISTINCT period_start) AS minutes
FROM ratelimit.rate_limit_metrics
WHERE granularity = 'minute' AND period_start > now() - interval '1 hour' AND resource <> '' AND user_id <> ''
    AND resource NOT LIKE '%:candidate' AND resource NOT LIKE '%:shadow'
GROUP BY user_id, resource
ORDER BY requests DESC
LIMIT 20;

COMMENT ON VIEW ratelimit.rate_limit_status IS 'The 20 busiest subjects of the last hour, for each limit';

CREATE VIEW ratelimit.rate_limit_active_penalties AS
SELECT user_id, resource, violation_count,
    to_timestamp(last_violation_at / 1000000.0) AS last_violation_at,
    make_interval(secs => round(penalty_duration / 1000000.0)) AS penalty_duration,
    CASE WHEN penalty_duration < 6311520000000000 THEN to_timestamp(penalty_until / 1000000.0) ELSE 'infinity' END
        AS penalty_until,
    metadata
FROM ratelimit.rate_limit_penalties
WHERE penalty_until > extract(epoch FROM clock_timestamp()) * 1000000
ORDER BY rate_limit_penalties.penalty_until DESC;

COMMENT ON VIEW ratelimit.rate_limit_active_penalties IS 'Subjects that are blocked because of repeated violations, the longest first';

CREATE VIEW ratelimit.rate_limit_violations AS
SELECT resource, sum(throttled)::bigint AS violations,
    count(DISTINCT user_id) FILTER (WHERE user_id <> '') AS users,
    round(sum(throttled) FILTER (WHERE user_id <> '') / nullif(count(DISTINCT user_id) FILTER (WHERE user_id <> ''), 0), 2)
        AS average_per_user
FROM ratelimit.rate_limit_metrics
WHERE granularity = 'minute' AND period_start > now() - interval '24 hours' AND resource <> '' AND throttled > 0
    AND resource NOT LIKE '%:candidate' AND resource NOT LIKE '%:shadow'
GROUP BY resource
ORDER BY violations DESC;

COMMENT ON VIEW ratelimit.rate_limit_violations IS 'The violations of each limit in the last 24 hours';

CREATE VIEW ratelimit.rate_limit_violation_rates AS
SELECT resource, sum(total)::bigint AS total, sum(throttled)::bigint AS violations,
    round(100.0 * sum(throttled) / nullif(sum(total), 0), 2) AS violation_percent
FROM ratelimit.rate_limit_metrics
WHERE granularity = 'minute' AND period_start > now() - interval '1 hour' AND resource <> ''
    AND resource NOT LIKE '%:candidate' AND resource NOT LIKE '%:shadow'
GROUP BY resource
ORDER BY violation_percent DESC;

COMMENT ON VIEW ratelimit.rate_limit_violation_rates IS 'The share of requests that exceeded each limit in the last hour; requests during a penalty are in the total only';

INSERT INTO ratelimit.ratelimit_schema_history (version, script) VALUES (1, 'V1__rate_limits.sql');
