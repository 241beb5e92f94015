CREATE TABLE half (id INTEGER);
INSERT INTO ratelimit_schema_history (version, script) VALUES (2, 'V2__sqlite_fails.sql');
INSERT INTO nowhere VALUES (1);
