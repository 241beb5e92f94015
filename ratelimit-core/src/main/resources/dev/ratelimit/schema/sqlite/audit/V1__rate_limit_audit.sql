-- The audit trail and totals over time, in a file of their own: they never wait for decisions, and decisions never for them.

-- Times are microseconds since the epoch. Old command-line tools must be able to read the file: no table is STRICT, and there is
-- no function that is newer than they are.

CREATE TABLE ratelimit_schema_history (
    version    INTEGER PRIMARY KEY,
    script     TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- Requests and how they came out; by default only those that were not allowed.
CREATE TABLE rate_limit_audit_logs (
    logged_at           INTEGER NOT NULL,
    log_id              TEXT    NOT NULL, -- chosen by the instance, so that a repeated write adds nothing
    user_id             TEXT,
    api_key_id          TEXT,
    ip_address          TEXT,
    endpoint            TEXT,             -- the pattern of the handler, such as /api/games/{id}; if none was reached, the first path
    http_method         TEXT,
    response_status     INTEGER,
    decision            TEXT    NOT NULL, -- allowed, throttled, blocked, exempt, unknown_api_key, failed_open or failed_closed
    requests            INTEGER NOT NULL DEFAULT 1, -- equal denials of a moment are one row
    rule_name           TEXT,
    rule_version        INTEGER,          -- of a stored rule; NULL for one of the configuration
    resource            TEXT,             -- the tightest limit that was asked
    subject             TEXT,             -- of that limit; user_id in rate_limits
    current_count       INTEGER,
    limit_value         INTEGER,
    retry_after_seconds INTEGER,
    decided_locally     INTEGER NOT NULL DEFAULT 0,
    latency_micros      INTEGER NOT NULL, -- how long the decisions took; of several requests, the longest
    server_id           TEXT    NOT NULL,
    region              TEXT    NOT NULL,
    PRIMARY KEY (logged_at, log_id)
) WITHOUT ROWID;

-- Allowed requests are by far the most where everything is logged, and nobody looks for them by their decision.
CREATE INDEX rate_limit_audit_logs_by_user ON rate_limit_audit_logs (user_id, logged_at)
WHERE user_id IS NOT NULL;
CREATE INDEX rate_limit_audit_logs_by_decision ON rate_limit_audit_logs (decision, logged_at)
WHERE decision <> 'allowed';

-- How many requests came and how they came out, for each minute, hour and day (UTC). Each request is in exactly one row without a
-- resource, and in one for each limit that was asked. Each instance writes its own totals of a minute, again and again until the
-- minute is over: a repeated write changes nothing. An empty text means: all that have no row of their own.
CREATE TABLE rate_limit_metrics (
    period_start    INTEGER NOT NULL,
    granularity     TEXT    NOT NULL CHECK (granularity IN ('minute', 'hour', 'day')),
    resource        TEXT    NOT NULL, -- the limit; empty for whole requests
    user_id         TEXT    NOT NULL, -- the subject, such as user:alice
    endpoint        TEXT    NOT NULL,
    region          TEXT    NOT NULL,
    instance        TEXT    NOT NULL, -- one start of an instance; empty in hours and days, which are sums over all of them
    total           INTEGER NOT NULL,
    allowed         INTEGER NOT NULL,
    throttled       INTEGER NOT NULL,
    blocked         INTEGER NOT NULL,
    exempt          INTEGER NOT NULL,
    failed          INTEGER NOT NULL, -- requests that the store did not decide
    cache_hits      INTEGER NOT NULL DEFAULT 0, -- decisions without the store, by a remembered denial or a lease
    cache_misses    INTEGER NOT NULL DEFAULT 0,
    last_request_at INTEGER NOT NULL,
    latency         BLOB,             -- an HdrHistogram of microseconds, in rows without a user: of all users
    created_at      INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000),
    PRIMARY KEY (period_start, granularity, resource, user_id, endpoint, region, instance)
) WITHOUT ROWID;

CREATE INDEX rate_limit_metrics_by_user ON rate_limit_metrics (user_id, period_start);

-- Questions with times that people can read (UTC). Active penalties are in the file of the counts.
-- Limits on trial (api:candidate, api:shadow) deny nobody: no answer has them.

-- The 20 busiest subjects of the last hour, for each limit.
CREATE VIEW rate_limit_status AS
SELECT user_id, resource, sum(total) AS requests, sum(throttled + blocked) AS denied,
    strftime('%Y-%m-%d %H:%M:%fZ', max(last_request_at) / 1000000.0, 'unixepoch') AS last_request_at,
    count(DISTINCT period_start) AS minutes
FROM rate_limit_metrics
WHERE granularity = 'minute' AND period_start > (julianday('now', '-1 hour') - 2440587.5) * 86400000000
    AND resource <> '' AND user_id <> '' AND resource NOT GLOB '*:candidate' AND resource NOT GLOB '*:shadow'
GROUP BY user_id, resource
ORDER BY requests DESC
LIMIT 20;

-- The violations of each limit in the last 24 hours.
CREATE VIEW rate_limit_violations AS
SELECT resource, sum(throttled) AS violations,
    count(DISTINCT nullif(user_id, '')) AS users,
    round(1.0 * sum(CASE WHEN user_id <> '' THEN throttled END) / nullif(count(DISTINCT nullif(user_id, '')), 0), 2)
        AS average_per_user
FROM rate_limit_metrics
WHERE granularity = 'minute' AND period_start > (julianday('now', '-24 hours') - 2440587.5) * 86400000000
    AND resource <> '' AND throttled > 0 AND resource NOT GLOB '*:candidate' AND resource NOT GLOB '*:shadow'
GROUP BY resource
ORDER BY violations DESC;

-- The share of requests that exceeded each limit in the last hour. Requests during a penalty are in the total only.
CREATE VIEW rate_limit_violation_rates AS
SELECT resource, sum(total) AS total, sum(throttled) AS violations,
    round(100.0 * sum(throttled) / nullif(sum(total), 0), 2) AS violation_percent
FROM rate_limit_metrics
WHERE granularity = 'minute' AND period_start > (julianday('now', '-1 hour') - 2440587.5) * 86400000000 AND resource <> ''
    AND resource NOT GLOB '*:candidate' AND resource NOT GLOB '*:shadow'
GROUP BY resource
ORDER BY violation_percent DESC;

INSERT INTO ratelimit_schema_history (version, script) VALUES (1, 'V1__rate_limit_audit.sql');
