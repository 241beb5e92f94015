-- region check
-- the lists of shards, and whether the state of other shards has left this database
SELECT version, names, this_name, moved_at > 0 AS moved FROM ratelimit.rate_limit_shards ORDER BY version;

-- the state that has left this database
SELECT count(*) FROM ratelimit.rate_limits WHERE algorithm LIKE 'moved:%';
-- endregion
