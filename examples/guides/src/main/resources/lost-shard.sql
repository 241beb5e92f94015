-- region forget
-- forgets which shards there were
DELETE FROM ratelimit.rate_limit_shards;

-- subjects that had moved to the lost shard come back
DELETE FROM ratelimit.rate_limits WHERE algorithm LIKE 'moved:%';
-- endregion
