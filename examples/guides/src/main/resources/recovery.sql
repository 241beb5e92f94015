-- region compare
SELECT count(*) AS versions, max(version) AS newest FROM rate_limit_configs;
SELECT count(*) AS users FROM user_quotas;
SELECT count(*) AS api_keys FROM api_keys;
SELECT max(revision) AS last_change FROM rate_limit_changes;
-- endregion
