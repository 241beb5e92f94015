-- The tables for databases that are compatible with PostgreSQL but lack functions, triggers or partitions. Where this differs from
-- ../V1__rate_limits.sql: RateLimitAdmin fills the change feed, and old rows of the audit trail are deleted instead of dropped.
-- The library runs the statements one by one, unless ratelimit.store.migrate is false. Each may run again. Then run it yourself:
--     psql --set ON_ERROR_STOP=1 --file V1__rate_limits.sql
-- For another schema, replace "ratelimit." and the name in the first statement.

-- Times are microseconds since the epoch; zero means never. A time in seconds or milliseconds would be long ago: it is refused
-- where people write one.

CREATE SCHEMA IF NOT EXISTS ratelimit;

CREATE TABLE IF NOT EXISTS ratelimit.ratelimit_schema_history (
    version    integer     PRIMARY KEY,
    script     text        NOT NULL,
    applied_by text        NOT NULL DEFAULT current_user,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE ratelimit.ratelimit_schema_history IS 'The scripts that have made the tables of rate limits';

CREATE TABLE IF NOT EXISTS ratelimit.rate_limits (
    user_id         text NOT NULL,
    resource        text NOT NULL,
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
);

COMMENT ON TABLE ratelimit.rate_limits IS 'Live state, one row for each subject (user_id) and limit (resource)';
COMMENT ON COLUMN ratelimit.rate_limits.algorithm IS 'that wrote the row; empty if nothing was counted yet';
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

CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_penalties (
    user_id           text NOT NULL,
    resource          text NOT NULL,
    violation_count   bigint           NOT NULL,
    last_violation_at bigint           NOT NULL,
    penalty_until     bigint           NOT NULL,
    penalty_duration  bigint           NOT NULL,
    forget_at         bigint           NOT NULL,
    metadata          jsonb,
    PRIMARY KEY (user_id, resource)
);

COMMENT ON TABLE ratelimit.rate_limit_penalties IS 'How often a subject has violated a limit, kept until forgotten';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.penalty_until IS 'end of the latest penalty, past or not';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.penalty_duration IS 'microseconds';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.forget_at IS 'when the count starts anew';
COMMENT ON COLUMN ratelimit.rate_limit_penalties.metadata IS 'notes of operators';

-- Lists of shards are only ever added. The highest version that any shard has is in force.

CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_shards (
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

CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_configs (
    id         bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    resource   text NOT NULL,
    version    integer          NOT NULL CHECK (version > 0),
    definition text,
    changed_by text             NOT NULL DEFAULT current_user,
    changed_at bigint           NOT NULL DEFAULT (floor(extract(epoch FROM clock_timestamp()) * 1000000))::bigint,
    expires_at bigint           NOT NULL DEFAULT 0 CHECK (expires_at = 0 OR expires_at > 100000000000000),
    reason     text,
    metadata   jsonb,
    UNIQUE (resource, version)
);

COMMENT ON TABLE ratelimit.rate_limit_configs IS 'Limits that override those of the configuration, by name (resource)';
COMMENT ON COLUMN ratelimit.rate_limit_configs.definition IS 'lines such as "max-requests: 100"; NULL if what the configuration says applies again';

CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_rules (
    id                  bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule_name           text NOT NULL,
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
    changed_at          bigint           NOT NULL DEFAULT (floor(extract(epoch FROM clock_timestamp()) * 1000000))::bigint,
    expires_at          bigint           NOT NULL DEFAULT 0 CHECK (expires_at = 0 OR expires_at > 100000000000000),
    reason              text,
    metadata            jsonb,
    UNIQUE (rule_name, version)
);

COMMENT ON TABLE ratelimit.rate_limit_rules IS 'Rules that override those of the configuration, by name; lists are separated by commas';
COMMENT ON COLUMN ratelimit.rate_limit_rules.removed IS 'whether what the configuration says applies again';
COMMENT ON COLUMN ratelimit.rate_limit_rules.enabled IS 'false for a rule that does nothing, and hides that of the configuration';
COMMENT ON COLUMN ratelimit.rate_limit_rules.subject_key IS 'user, ip, user+ip, session, api-key or header:NAME; never an expression';

CREATE TABLE IF NOT EXISTS ratelimit.user_quotas (
    user_id       text PRIMARY KEY,
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
    changed_at    bigint NOT NULL DEFAULT (floor(extract(epoch FROM clock_timestamp()) * 1000000))::bigint,
    created_at    bigint NOT NULL DEFAULT (floor(extract(epoch FROM clock_timestamp()) * 1000000))::bigint,
    last_request_at      bigint NOT NULL DEFAULT 0,
    quota_exceeded_count bigint NOT NULL DEFAULT 0
);

COMMENT ON TABLE ratelimit.user_quotas IS 'What is different for a user: tier, numbers that override those of the tier, a block';

CREATE TABLE IF NOT EXISTS ratelimit.api_keys (
    id             text PRIMARY KEY,
    key_hash       text NOT NULL UNIQUE,
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
    created_at     bigint NOT NULL DEFAULT (floor(extract(epoch FROM clock_timestamp()) * 1000000))::bigint,
    expires_at     bigint NOT NULL DEFAULT 0 CHECK (expires_at = 0 OR expires_at > 100000000000000),
    revoked_at     bigint NOT NULL DEFAULT 0,
    revoked_by     text,
    last_used_at   bigint NOT NULL DEFAULT 0,
    total_requests bigint NOT NULL DEFAULT 0
);

COMMENT ON TABLE ratelimit.api_keys IS 'API keys; nothing here allows to find out a key';
COMMENT ON COLUMN ratelimit.api_keys.key_hash IS 'SHA-256 of the whole key, in lower-case hexadecimal digits';
COMMENT ON COLUMN ratelimit.api_keys.user_id IS 'who owns it';

CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_admin_logs (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at   bigint NOT NULL DEFAULT (floor(extract(epoch FROM clock_timestamp()) * 1000000))::bigint,
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
CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_revision (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    revision bigint  NOT NULL
);
INSERT INTO ratelimit.rate_limit_revision (revision) VALUES (0) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_changes (
    revision   bigint PRIMARY KEY,
    kind       text   NOT NULL CHECK (kind IN ('limit', 'rule', 'quota', 'key', 'reset')),
    name       text   NOT NULL,
    changed_at bigint NOT NULL DEFAULT (floor(extract(epoch FROM clock_timestamp()) * 1000000))::bigint
);

COMMENT ON TABLE ratelimit.rate_limit_changes IS 'The latest changes, in the order in which they were committed; filled by RateLimitAdmin';

-- The audit trail, and totals over time.

CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_audit_logs (
    logged_at           timestamptz      NOT NULL,
    log_id              uuid             NOT NULL,
    user_id             text,
    api_key_id          text,
    ip_address          text,
    endpoint            text,
    http_method         text,
    response_status     integer,
    decision            text             NOT NULL,
    requests            bigint           NOT NULL DEFAULT 1,
    rule_name           text,
    rule_version        integer,
    resource            text,
    subject             text,
    current_count       bigint,
    limit_value         bigint,
    retry_after_seconds bigint,
    decided_locally     boolean          NOT NULL DEFAULT false,
    latency_micros      bigint           NOT NULL,
    server_id           text             NOT NULL,
    region              text             NOT NULL,
    PRIMARY KEY (logged_at, log_id)
);

-- Allowed requests are by far the most where everything is logged, and nobody looks for them by their decision.
CREATE INDEX IF NOT EXISTS rate_limit_audit_logs_by_user ON ratelimit.rate_limit_audit_logs (user_id, logged_at DESC)
WHERE user_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS rate_limit_audit_logs_by_decision ON ratelimit.rate_limit_audit_logs (decision, logged_at DESC)
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
CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_metrics (
    period_start    timestamptz      NOT NULL,
    granularity     text             NOT NULL CHECK (granularity IN ('minute', 'hour', 'day')),
    resource        text NOT NULL,
    user_id         text NOT NULL,
    endpoint        text NOT NULL,
    region          text NOT NULL,
    instance        text NOT NULL,
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
);

CREATE INDEX IF NOT EXISTS rate_limit_metrics_by_user ON ratelimit.rate_limit_metrics (user_id, period_start DESC);

COMMENT ON TABLE ratelimit.rate_limit_metrics IS 'How many requests came and how they came out, for each minute, hour and day (UTC)';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.resource IS 'the limit; empty for whole requests';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.user_id IS 'the subject, such as user:alice; empty for all that have no row of their own';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.instance IS 'one start of an instance; empty in hours and days, which are sums over all of them';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.failed IS 'requests that the store did not decide';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.cache_hits IS 'decisions without the store, by a remembered denial or a lease; in rows without a resource';
COMMENT ON COLUMN ratelimit.rate_limit_metrics.latency IS 'an HdrHistogram of microseconds, in rows without a user: of all users';

-- A transaction that has updated a row here works alone.
CREATE TABLE IF NOT EXISTS ratelimit.rate_limit_locks (
    name text PRIMARY KEY
);
INSERT INTO ratelimit.rate_limit_locks (name) VALUES ('sums'), ('retention') ON CONFLICT DO NOTHING;

-- Four questions, with times that people can read. Limits on trial (api:candidate, api:shadow) deny nobody: no answer has them.

CREATE OR REPLACE VIEW ratelimit.rate_limit_status AS
SELECT user_id, resource, sum(total)::bigint AS requests, sum(throttled + blocked)::bigint AS denied,
    max(last_request_at) AS last_request_at, count(DISTINCT period_start) AS minutes
FROM ratelimit.rate_limit_metrics
WHERE granularity = 'minute' AND period_start > now() - interval '1 hour' AND resource <> '' AND user_id <> ''
    AND resource NOT LIKE '%:candidate' AND resource NOT LIKE '%:shadow'
GROUP BY user_id, resource
ORDER BY requests DESC
LIMIT 20;

COMMENT ON VIEW ratelimit.rate_limit_status IS 'The 20 busiest subjects of the last hour, for each limit';

CREATE OR REPLACE VIEW ratelimit.rate_limit_active_penalties AS
SELECT user_id, resource, violation_count,
    to_timestamp(last_violation_at / 1000000.0) AS last_violation_at,
    penalty_duration / 1000000 * interval '1 second' AS penalty_duration,
    CASE WHEN penalty_duration < 6311520000000000 THEN to_timestamp(penalty_until / 1000000.0) ELSE 'infinity' END
        AS penalty_until,
    metadata
FROM ratelimit.rate_limit_penalties
WHERE penalty_until > extract(epoch FROM clock_timestamp()) * 1000000
ORDER BY rate_limit_penalties.penalty_until DESC;

COMMENT ON VIEW ratelimit.rate_limit_active_penalties IS 'Subjects that are blocked because of repeated violations, the longest first';

CREATE OR REPLACE VIEW ratelimit.rate_limit_violations AS
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

CREATE OR REPLACE VIEW ratelimit.rate_limit_violation_rates AS
SELECT resource, sum(total)::bigint AS total, sum(throttled)::bigint AS violations,
    round(100.0 * sum(throttled) / nullif(sum(total), 0), 2) AS violation_percent
FROM ratelimit.rate_limit_metrics
WHERE granularity = 'minute' AND period_start > now() - interval '1 hour' AND resource <> ''
    AND resource NOT LIKE '%:candidate' AND resource NOT LIKE '%:shadow'
GROUP BY resource
ORDER BY violation_percent DESC;

COMMENT ON VIEW ratelimit.rate_limit_violation_rates IS 'The share of requests that exceeded each limit in the last hour; requests during a penalty are in the total only';

INSERT INTO ratelimit.ratelimit_schema_history (version, script) VALUES (1, 'plain/V1__rate_limits.sql') ON CONFLICT DO NOTHING;
