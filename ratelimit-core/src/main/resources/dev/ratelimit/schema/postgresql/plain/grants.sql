-- The rights that a role needs to run the library with ratelimit.store.migrate: false. It needs no other.
--     psql --single-transaction --set ON_ERROR_STOP=1 --set role=app --file grants.sql
-- For another schema, replace "ratelimit." and the name in the first line.

GRANT USAGE ON SCHEMA ratelimit TO :"role";
GRANT SELECT ON ratelimit.ratelimit_schema_history TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON ratelimit.rate_limits TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON ratelimit.rate_limit_penalties TO :"role";
GRANT SELECT, INSERT, UPDATE ON ratelimit.rate_limit_shards TO :"role";
GRANT SELECT, INSERT ON ratelimit.rate_limit_configs TO :"role";
GRANT SELECT, INSERT ON ratelimit.rate_limit_rules TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON ratelimit.user_quotas TO :"role";
GRANT SELECT, INSERT, UPDATE ON ratelimit.api_keys TO :"role";
GRANT SELECT, INSERT ON ratelimit.rate_limit_admin_logs TO :"role";
GRANT SELECT, INSERT, DELETE ON ratelimit.rate_limit_changes TO :"role";
GRANT SELECT, UPDATE ON ratelimit.rate_limit_revision TO :"role";
GRANT SELECT, UPDATE ON ratelimit.rate_limit_locks TO :"role";
GRANT SELECT, INSERT, DELETE ON ratelimit.rate_limit_audit_logs TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON ratelimit.rate_limit_metrics TO :"role";
GRANT SELECT ON ratelimit.rate_limit_status TO :"role";
GRANT SELECT ON ratelimit.rate_limit_active_penalties TO :"role";
GRANT SELECT ON ratelimit.rate_limit_violations TO :"role";
GRANT SELECT ON ratelimit.rate_limit_violation_rates TO :"role";
