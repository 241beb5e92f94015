ALTER TABLE ratelimit.rate_limits ADD COLUMN note text;
INSERT INTO ratelimit.ratelimit_schema_history (version, script) VALUES (2, 'V2__postgresql.sql');
