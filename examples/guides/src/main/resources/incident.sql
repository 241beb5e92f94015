-- region by-hand
-- 50 requests a minute, until the next version
INSERT INTO rate_limit_configs (resource, version, definition)
SELECT 'api', coalesce(max(version), 0) + 1, 'algorithm: sliding-window
max-requests: 50
window: 1m'
FROM rate_limit_configs WHERE resource = 'api';
-- endregion
