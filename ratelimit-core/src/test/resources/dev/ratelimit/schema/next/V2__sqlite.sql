ALTER TABLE rate_limits ADD COLUMN note TEXT;
INSERT INTO ratelimit_schema_history (version, script) VALUES (2, 'V2__sqlite.sql');
