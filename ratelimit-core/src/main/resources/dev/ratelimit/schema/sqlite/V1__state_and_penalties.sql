-- Times are microseconds since the epoch; zero means never.

-- Live state, one row for each subject (user_id) and limit (resource).
CREATE TABLE rate_limits (
    user_id         TEXT    NOT NULL,
    resource        TEXT    NOT NULL,
    algorithm       TEXT    NOT NULL, -- that wrote the row: fixed-window, sliding-window, sliding-log, token-bucket, leaky-bucket
    window_start    INTEGER NOT NULL, -- of the window that request_count is of
    window_size     INTEGER NOT NULL, -- length of the window; for buckets, the units that one permit is
    request_count   INTEGER NOT NULL,
    previous_count  INTEGER NOT NULL, -- of the window before
    tokens          INTEGER NOT NULL, -- in units: tokens of a token bucket, water in a leaky one
    log             BLOB,             -- of a sliding log: eight bytes a request, most significant first
    blocked_until   INTEGER NOT NULL, -- end of the penalty
    last_request_at INTEGER NOT NULL, -- when the row was last written
    last_allowed_at INTEGER NOT NULL, -- for min-interval
    expires_at      INTEGER NOT NULL, -- from when on the row says no more than no row
    PRIMARY KEY (user_id, resource)
) STRICT, WITHOUT ROWID;

-- How often a subject has violated a limit, kept until forgotten.
CREATE TABLE rate_limit_penalties (
    user_id           TEXT    NOT NULL,
    resource          TEXT    NOT NULL,
    violation_count   INTEGER NOT NULL,
    last_violation_at INTEGER NOT NULL,
    penalty_until     INTEGER NOT NULL, -- end of the latest penalty, past or not
    penalty_duration  INTEGER NOT NULL, -- microseconds
    forget_at         INTEGER NOT NULL, -- when the count starts anew
    PRIMARY KEY (user_id, resource)
) STRICT, WITHOUT ROWID;
