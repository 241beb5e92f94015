CREATE TABLE ratelimit.half (id int);
INSERT INTO ratelimit.ratelimit_schema_history (version, script) VALUES (2, 'V2__postgresql_fails.sql');
SELECT 1 / 0;
