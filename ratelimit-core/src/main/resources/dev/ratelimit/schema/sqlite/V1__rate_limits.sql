-- Times are microseconds since the epoch; zero means never. A time in seconds or milliseconds would be long ago: it is refused
-- where people write one.

-- Old command-line tools must be able to read the file and to change it by hand. They refuse a whole file if a table is STRICT,
-- and functions that are newer than they are: so there are CHECKs instead, and times come from julianday.

CREATE TABLE ratelimit_schema_history (
    version    INTEGER PRIMARY KEY,
    script     TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- Live state, one row for each subject (user_id) and limit (resource).
CREATE TABLE rate_limits (
    user_id         TEXT    NOT NULL,
    resource        TEXT    NOT NULL,
    algorithm       TEXT    NOT NULL, -- that wrote the row
    window_start    INTEGER NOT NULL, -- of the window that request_count is of
    window_size     INTEGER NOT NULL, -- length of the window; for buckets, the units that one permit is
    capacity        INTEGER NOT NULL, -- the most that the limit could grant when the row was written
    request_count   INTEGER NOT NULL,
    previous_count  INTEGER NOT NULL, -- of the window before
    tokens          INTEGER NOT NULL, -- in units: tokens of a token bucket, water in a leaky one
    log             BLOB,             -- of a sliding log: eight bytes a request, most significant first
    blocked_until   INTEGER NOT NULL, -- end of the penalty
    last_request_at INTEGER NOT NULL, -- when the row was last written
    last_allowed_at INTEGER NOT NULL, -- for min-interval
    expires_at      INTEGER NOT NULL, -- from when on the row says no more than no row
    PRIMARY KEY (user_id, resource)
) WITHOUT ROWID;

-- How often a subject has violated a limit, kept until forgotten.
CREATE TABLE rate_limit_penalties (
    user_id           TEXT    NOT NULL,
    resource          TEXT    NOT NULL,
    violation_count   INTEGER NOT NULL,
    last_violation_at INTEGER NOT NULL,
    penalty_until     INTEGER NOT NULL, -- end of the latest penalty, past or not
    penalty_duration  INTEGER NOT NULL, -- microseconds
    forget_at         INTEGER NOT NULL, -- when the count starts anew
    metadata          TEXT,             -- notes of operators, a JSON object
    PRIMARY KEY (user_id, resource)
) WITHOUT ROWID;

-- Versions of limits and rules are only ever added. In force of a name is the highest version that has not expired.

-- Limits that override those of the configuration, by name (resource).
CREATE TABLE rate_limit_configs (
    id         INTEGER PRIMARY KEY,
    resource   TEXT    NOT NULL,
    version    INTEGER NOT NULL CHECK (typeof(version) = 'integer' AND version BETWEEN 1 AND 2147483647),
    definition TEXT,             -- lines such as "max-requests: 100"; NULL if what the configuration says applies again
    changed_by TEXT    NOT NULL DEFAULT 'unknown',
    changed_at INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000) CHECK (typeof(changed_at) = 'integer'),
    expires_at INTEGER NOT NULL DEFAULT 0 CHECK (typeof(expires_at) = 'integer' AND (expires_at = 0 OR expires_at > 100000000000000)),
    reason     TEXT,
    metadata   TEXT,             -- notes of operators, a JSON object
    UNIQUE (resource, version)
);

-- Rules that override those of the configuration, by name; lists are separated by commas.
CREATE TABLE rate_limit_rules (
    id                  INTEGER PRIMARY KEY,
    rule_name           TEXT    NOT NULL,
    version             INTEGER NOT NULL CHECK (typeof(version) = 'integer' AND version BETWEEN 1 AND 2147483647),
    removed             INTEGER NOT NULL DEFAULT 0 CHECK (typeof(removed) = 'integer' AND removed IN (0, 1)), -- whether what the configuration says applies again
    enabled             INTEGER NOT NULL DEFAULT 1 CHECK (typeof(enabled) = 'integer' AND enabled IN (0, 1)), -- 0 for a rule that does nothing, and hides that of the configuration
    priority            INTEGER NOT NULL DEFAULT 0 CHECK (typeof(priority) = 'integer' AND priority BETWEEN -2147483648 AND 2147483647),
    user_tier           TEXT,
    endpoint_pattern    TEXT,
    http_method         TEXT,
    ip_range            TEXT,
    authority           TEXT,
    api_key             TEXT,
    limits              TEXT,
    subject_key         TEXT,    -- user, ip, user+ip, session, api-key or header:NAME; never an expression
    action              TEXT    NOT NULL DEFAULT 'throttle',
    response_status     INTEGER CHECK (typeof(response_status) IN ('integer', 'null') AND response_status BETWEEN -2147483648 AND 2147483647),
    response_message    TEXT,
    retry_after_seconds INTEGER CHECK (typeof(retry_after_seconds) IN ('integer', 'null')),
    on_failure          TEXT,
    changed_by          TEXT    NOT NULL DEFAULT 'unknown',
    changed_at          INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000) CHECK (typeof(changed_at) = 'integer'),
    expires_at          INTEGER NOT NULL DEFAULT 0 CHECK (typeof(expires_at) = 'integer' AND (expires_at = 0 OR expires_at > 100000000000000)),
    reason              TEXT,
    metadata            TEXT,    -- notes of operators, a JSON object
    UNIQUE (rule_name, version)
);

-- The settings of a user: tier, numbers that override those of the tier, a block.
CREATE TABLE user_quotas (
    user_id       TEXT    NOT NULL PRIMARY KEY,
    tier          TEXT,
    per_second    INTEGER CHECK (typeof(per_second) IN ('integer', 'null')),
    per_hour      INTEGER CHECK (typeof(per_hour) IN ('integer', 'null')),
    per_day       INTEGER CHECK (typeof(per_day) IN ('integer', 'null')),
    per_month     INTEGER CHECK (typeof(per_month) IN ('integer', 'null')),
    burst         INTEGER CHECK (typeof(burst) IN ('integer', 'null')),
    zone          TEXT,
    blocked_until INTEGER NOT NULL DEFAULT 0 CHECK (typeof(blocked_until) = 'integer' AND (blocked_until = 0 OR blocked_until > 100000000000000)),
    block_reason  TEXT,
    changed_by    TEXT    NOT NULL DEFAULT 'unknown',
    changed_at    INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000) CHECK (typeof(changed_at) = 'integer'),
    created_at    INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000) CHECK (typeof(created_at) = 'integer'),
    last_request_at      INTEGER NOT NULL DEFAULT 0 CHECK (typeof(last_request_at) = 'integer'),
    quota_exceeded_count INTEGER NOT NULL DEFAULT 0 CHECK (typeof(quota_exceeded_count) = 'integer')
);

-- API keys; nothing here allows to find out a key.
CREATE TABLE api_keys (
    id             TEXT    NOT NULL PRIMARY KEY,
    key_hash       TEXT    NOT NULL UNIQUE, -- SHA-256 of the whole key, in lower-case hexadecimal digits
    name           TEXT    NOT NULL,
    user_id        TEXT    NOT NULL,        -- who owns it
    tier           TEXT,
    per_second     INTEGER CHECK (typeof(per_second) IN ('integer', 'null')),
    per_hour       INTEGER CHECK (typeof(per_hour) IN ('integer', 'null')),
    per_day        INTEGER CHECK (typeof(per_day) IN ('integer', 'null')),
    per_month      INTEGER CHECK (typeof(per_month) IN ('integer', 'null')),
    burst          INTEGER CHECK (typeof(burst) IN ('integer', 'null')),
    zone           TEXT,
    created_by     TEXT    NOT NULL DEFAULT 'unknown',
    created_at     INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000) CHECK (typeof(created_at) = 'integer'),
    expires_at     INTEGER NOT NULL DEFAULT 0 CHECK (typeof(expires_at) = 'integer' AND (expires_at = 0 OR expires_at > 100000000000000)),
    revoked_at     INTEGER NOT NULL DEFAULT 0 CHECK (typeof(revoked_at) = 'integer'),
    revoked_by     TEXT,
    last_used_at   INTEGER NOT NULL DEFAULT 0 CHECK (typeof(last_used_at) = 'integer'),
    total_requests INTEGER NOT NULL DEFAULT 0 CHECK (typeof(total_requests) = 'integer')
);

-- Changes by operators, each written in the transaction of the change. Rows are only ever added.
CREATE TABLE rate_limit_admin_logs (
    id           INTEGER PRIMARY KEY,
    changed_at   INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000) CHECK (typeof(changed_at) = 'integer'),
    changed_by   TEXT    NOT NULL DEFAULT 'unknown' CHECK (changed_by <> ''),
    action       TEXT    NOT NULL,           -- set, remove, roll-back, switch-off, switch-on, block, unblock, create, revoke, reset, clear-penalty, note or back-up
    kind         TEXT    NOT NULL CHECK (kind IN ('limit', 'rule', 'quota', 'user', 'api-key', 'subject', 'backup', 'retention')),
    name         TEXT    NOT NULL,           -- of the limit, the rule or the user; the id of the API key; the subject
    reason       TEXT,
    expires_at   INTEGER NOT NULL DEFAULT 0 CHECK (typeof(expires_at) = 'integer'), -- when the change ends by itself
    state_before TEXT,                       -- a JSON object; NULL if there was nothing
    state_after  TEXT                        -- a JSON object; NULL if there is nothing
);

-- The change feed for instances that cache the tables above: the latest changes in the order of their commits. Filled
-- by triggers.
CREATE TABLE rate_limit_changes (
    revision   INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL CHECK (kind IN ('limit', 'rule', 'quota', 'key', 'reset')),
    name       TEXT    NOT NULL,
    changed_at INTEGER NOT NULL DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000) CHECK (typeof(changed_at) = 'integer')
);

CREATE TRIGGER rate_limit_configs_inserted AFTER INSERT ON rate_limit_configs
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('limit', NEW.resource);
END;

CREATE TRIGGER rate_limit_configs_updated AFTER UPDATE ON rate_limit_configs
BEGIN
    INSERT INTO rate_limit_changes (kind, name) SELECT 'limit', OLD.resource UNION SELECT 'limit', NEW.resource;
END;

CREATE TRIGGER rate_limit_configs_deleted AFTER DELETE ON rate_limit_configs
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('limit', OLD.resource);
END;

CREATE TRIGGER rate_limit_rules_inserted AFTER INSERT ON rate_limit_rules
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('rule', NEW.rule_name);
END;

CREATE TRIGGER rate_limit_rules_updated AFTER UPDATE ON rate_limit_rules
BEGIN
    INSERT INTO rate_limit_changes (kind, name) SELECT 'rule', OLD.rule_name UNION SELECT 'rule', NEW.rule_name;
END;

CREATE TRIGGER rate_limit_rules_deleted AFTER DELETE ON rate_limit_rules
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('rule', OLD.rule_name);
END;

CREATE TRIGGER user_quotas_inserted AFTER INSERT ON user_quotas
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('quota', NEW.user_id);
END;

-- Not last_request_at and quota_exceeded_count: they change all the time, and nobody keeps them in memory.
CREATE TRIGGER user_quotas_updated AFTER UPDATE OF
    user_id, tier, per_second, per_hour, per_day, per_month, burst, zone, blocked_until, block_reason
ON user_quotas
BEGIN
    INSERT INTO rate_limit_changes (kind, name) SELECT 'quota', OLD.user_id UNION SELECT 'quota', NEW.user_id;
END;

CREATE TRIGGER user_quotas_deleted AFTER DELETE ON user_quotas
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('quota', OLD.user_id);
END;

-- Not last_used_at and total_requests: they change all the time, and nobody keeps them in memory.
CREATE TRIGGER api_keys_inserted AFTER INSERT ON api_keys
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('key', NEW.id);
END;

CREATE TRIGGER api_keys_updated AFTER UPDATE OF
    id, key_hash, name, user_id, tier, per_second, per_hour, per_day, per_month, burst, zone, expires_at, revoked_at
ON api_keys
BEGIN
    INSERT INTO rate_limit_changes (kind, name) SELECT 'key', OLD.id UNION SELECT 'key', NEW.id;
END;

CREATE TRIGGER api_keys_deleted AFTER DELETE ON api_keys
BEGIN
    INSERT INTO rate_limit_changes (kind, name) VALUES ('key', OLD.id);
END;

-- Subjects that are blocked because of repeated violations, the longest first, with times that people can read (UTC).
CREATE VIEW rate_limit_active_penalties AS
SELECT user_id, resource, violation_count,
    strftime('%Y-%m-%d %H:%M:%fZ', last_violation_at / 1000000.0, 'unixepoch') AS last_violation_at,
    penalty_duration / 1000000 AS penalty_seconds,
    CASE WHEN penalty_duration < 6311520000000000
        THEN strftime('%Y-%m-%d %H:%M:%fZ', penalty_until / 1000000.0, 'unixepoch') ELSE 'forever' END AS penalty_until,
    metadata
FROM rate_limit_penalties
WHERE rate_limit_penalties.penalty_until > (julianday('now') - 2440587.5) * 86400000000
ORDER BY rate_limit_penalties.penalty_until DESC;

INSERT INTO ratelimit_schema_history (version, script) VALUES (1, 'V1__rate_limits.sql');
