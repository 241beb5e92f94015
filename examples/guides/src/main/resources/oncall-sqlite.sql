-- region state
-- a user on every limit after the last request: the count of a window or a log, and the level of a bucket
SELECT user_id, resource, algorithm, coalesce(length(log) / 8, request_count) AS request_count,
    tokens / nullif(window_size, 0) AS level, capacity,
    datetime(last_request_at / 1000000, 'unixepoch') AS last_request_at
FROM rate_limits
WHERE (user_id = 'user:alice' OR substr(user_id, 1, 11) = 'user:alice+')
    AND expires_at > (julianday('now') - 2440587.5) * 86400000000
ORDER BY user_id, resource;

-- users that are blocked
SELECT user_id, datetime(blocked_until / 1000000, 'unixepoch') AS blocked_until, block_reason, changed_by
FROM user_quotas
WHERE user_quotas.blocked_until > (julianday('now') - 2440587.5) * 86400000000
ORDER BY user_quotas.blocked_until DESC;

-- limits that were changed: without a definition, the configuration applies again
SELECT resource, max(version) AS version, definition, changed_by, reason,
    datetime(changed_at / 1000000, 'unixepoch') AS changed_at,
    datetime(nullif(expires_at, 0) / 1000000, 'unixepoch') AS expires_at
FROM rate_limit_configs
WHERE rate_limit_configs.expires_at = 0
    OR rate_limit_configs.expires_at > (julianday('now') - 2440587.5) * 86400000000
GROUP BY resource;

-- rules that were changed: for a removed one, the configuration applies again
SELECT rule_name, max(version) AS version, enabled, removed, action, endpoint_pattern, ip_range, changed_by, reason,
    datetime(nullif(expires_at, 0) / 1000000, 'unixepoch') AS expires_at
FROM rate_limit_rules
WHERE rate_limit_rules.expires_at = 0
    OR rate_limit_rules.expires_at > (julianday('now') - 2440587.5) * 86400000000
GROUP BY rule_name;
-- endregion

-- region changes
-- the latest changes: who, what, when and why
SELECT datetime(changed_at / 1000000, 'unixepoch') AS changed_at, changed_by, action, kind, name, reason,
    datetime(nullif(expires_at, 0) / 1000000, 'unixepoch') AS expires_at
FROM rate_limit_admin_logs
ORDER BY id DESC
LIMIT 20;

-- the changes of one limit, with the state before and after
SELECT datetime(changed_at / 1000000, 'unixepoch') AS changed_at, changed_by, action, state_before, state_after
FROM rate_limit_admin_logs
WHERE kind = 'limit' AND name = 'api'
ORDER BY id DESC
LIMIT 20;
-- endregion

-- region requests
-- the latest entries of a user: denials, unless ratelimit.audit.mode is all or sampled
SELECT datetime(logged_at / 1000000, 'unixepoch') AS logged_at, decision, requests, ip_address, http_method, endpoint,
    response_status, rule_name, resource, current_count, limit_value, retry_after_seconds
FROM rate_limit_audit_logs
WHERE user_id = 'alice'
    AND rate_limit_audit_logs.logged_at > (julianday('now', '-1 day') - 2440587.5) * 86400000000
ORDER BY rate_limit_audit_logs.logged_at DESC
LIMIT 20;

-- the addresses that were denied most often in the last hour
SELECT ip_address, sum(requests) AS denied, count(DISTINCT user_id) AS users,
    datetime(max(logged_at) / 1000000, 'unixepoch') AS last_denied_at
FROM rate_limit_audit_logs
WHERE decision IN ('throttled', 'blocked', 'unknown_api_key')
    AND logged_at > (julianday('now', '-1 hour') - 2440587.5) * 86400000000
GROUP BY ip_address
ORDER BY denied DESC
LIMIT 20;

-- requests and denials per minute in the last hour
SELECT datetime(period_start / 1000000, 'unixepoch') AS minute, sum(total) AS requests, sum(throttled + blocked) AS denied,
    sum(failed) AS failed
FROM rate_limit_metrics
WHERE granularity = 'minute' AND resource = ''
    AND period_start > (julianday('now', '-1 hour') - 2440587.5) * 86400000000
GROUP BY period_start
ORDER BY period_start;
-- endregion
