-- Times are microseconds since the epoch; zero means never.
-- No column that a decision changes has an index, and a page keeps room for new versions of its rows:
-- so every decision is a heap-only (HOT) update.

CREATE TABLE "${flyway:defaultSchema}".rate_limits (
    user_id         text COLLATE "C" NOT NULL,
    resource        text COLLATE "C" NOT NULL,
    algorithm       text             NOT NULL DEFAULT '',
    window_start    bigint           NOT NULL DEFAULT 0,
    window_size     bigint           NOT NULL DEFAULT 0,
    request_count   bigint           NOT NULL DEFAULT 0,
    previous_count  bigint           NOT NULL DEFAULT 0,
    tokens          bigint           NOT NULL DEFAULT 0,
    log             bytea,
    blocked_until   bigint           NOT NULL DEFAULT 0,
    last_request_at bigint           NOT NULL DEFAULT 0,
    last_allowed_at bigint           NOT NULL DEFAULT 0,
    expires_at      bigint           NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, resource)
) WITH (fillfactor = 70);

COMMENT ON TABLE "${flyway:defaultSchema}".rate_limits IS 'Live state, one row for each subject (user_id) and limit (resource)';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.algorithm IS 'that wrote the row; empty if nothing was counted yet';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.window_start IS 'of the window that request_count is of';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.window_size IS 'length of the window; for buckets, the units that one permit is';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.previous_count IS 'of the window before';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.tokens IS 'in units: tokens of a token bucket, water in a leaky one';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.log IS 'of a sliding log: eight bytes a request, most significant first';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.blocked_until IS 'end of the penalty';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.last_request_at IS 'when the row was last written';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.last_allowed_at IS 'for min-interval';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limits.expires_at IS 'from when on the row says no more than no row';

CREATE TABLE "${flyway:defaultSchema}".rate_limit_penalties (
    user_id           text COLLATE "C" NOT NULL,
    resource          text COLLATE "C" NOT NULL,
    violation_count   bigint           NOT NULL,
    last_violation_at bigint           NOT NULL,
    penalty_until     bigint           NOT NULL,
    penalty_duration  bigint           NOT NULL,
    forget_at         bigint           NOT NULL,
    PRIMARY KEY (user_id, resource)
) WITH (fillfactor = 70);

COMMENT ON TABLE "${flyway:defaultSchema}".rate_limit_penalties IS 'How often a subject has violated a limit, kept until forgotten';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limit_penalties.penalty_until IS 'end of the latest penalty, past or not';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limit_penalties.penalty_duration IS 'microseconds';
COMMENT ON COLUMN "${flyway:defaultSchema}".rate_limit_penalties.forget_at IS 'when the count starts anew';
