-- region questions
-- the 20 busiest subjects of the last hour, for each limit
SELECT * FROM rate_limit_status;

-- active penalties, the longest first
SELECT * FROM rate_limit_active_penalties;

-- the violations of each limit in the last 24 hours
SELECT * FROM rate_limit_violations;

-- the share of requests that exceeded each limit in the last hour (those during a penalty are in the total only)
SELECT * FROM rate_limit_violation_rates;
-- endregion

-- region state
-- a user on every limit after the last request: the count of a window or a log, and the level of a bucket
SELECT user_id, resource, algorithm, coalesce(length(log) / 8, request_count) AS request_count,
    tokens / nullif(window_size, 0) AS level, capacity,
    to_timestamp(last_request_at / 1000000.0) AS last_request_at
FROM rate_limits
WHERE (user_id = 'user:alice' OR starts_with(user_id, 'user:alice+'))
    AND expires_at > extract(epoch FROM now()) * 1000000
ORDER BY user_id, resource;

-- users that are blocked
SELECT user_id, to_timestamp(blocked_until / 1000000.0) AS blocked_until, block_reason, changed_by
FROM user_quotas
WHERE blocked_until > extract(epoch FROM now()) * 1000000
ORDER BY user_quotas.blocked_until DESC;

-- limits that were changed: without a definition, the configuration applies again
SELECT DISTINCT ON (resource) resource, version, definition, changed_by, reason,
    to_timestamp(changed_at / 1000000.0) AS changed_at,
    to_timestamp(nullif(expires_at, 0) / 1000000.0) AS expires_at
FROM rate_limit_configs
WHERE expires_at = 0 OR expires_at > extract(epoch FROM now()) * 1000000
ORDER BY resource, version DESC;

-- rules that were changed: for a removed one, the configuration applies again
SELECT DISTINCT ON (rule_name) rule_name, version, enabled, removed, action, endpoint_pattern, ip_range, changed_by, reason,
    to_timestamp(nullif(expires_at, 0) / 1000000.0) AS expires_at
FROM rate_limit_rules
WHERE expires_at = 0 OR expires_at > extract(epoch FROM now()) * 1000000
ORDER BY rule_name, version DESC;
-- endregion

-- region changes
-- the latest changes: who, what, when and why
SELECT to_timestamp(changed_at / 1000000.0) AS changed_at, changed_by, action, kind, name, reason,
    to_timestamp(nullif(expires_at, 0) / 1000000.0) AS expires_at
FROM rate_limit_admin_logs
ORDER BY id DESC
LIMIT 20;

-- the changes of one limit, with the state before and after
SELECT to_timestamp(changed_at / 1000000.0) AS changed_at, changed_by, action, state_before::jsonb, state_after::jsonb
FROM rate_limit_admin_logs
WHERE kind = 'limit' AND name = 'api'
ORDER BY id DESC
LIMIT 20;
-- endregion

-- region requests
-- the latest entries of a user: denials, unless ratelimit.audit.mode is all or sampled
SELECT logged_at, decision, requests, ip_address, http_method, endpoint, response_status, rule_name, resource,
    current_count, limit_value, retry_after_seconds
FROM rate_limit_audit_logs
WHERE user_id = 'alice' AND logged_at > now() - interval '1 day'
ORDER BY logged_at DESC
LIMIT 20;

-- the addresses that were denied most often in the last hour
SELECT ip_address, sum(requests) AS denied, count(DISTINCT user_id) AS users, max(logged_at) AS last_denied_at
FROM rate_limit_audit_logs
WHERE decision IN ('throttled', 'blocked', 'unknown_api_key') AND logged_at > now() - interval '1 hour'
GROUP BY ip_address
ORDER BY denied DESC
LIMIT 20;

-- requests and denials per minute in the last hour
SELECT period_start, sum(total) AS requests, sum(throttled + blocked) AS denied, sum(failed) AS failed
FROM rate_limit_metrics
WHERE granularity = 'minute' AND resource = '' AND period_start > now() - interval '1 hour'
GROUP BY period_start
ORDER BY period_start;
-- endregion
