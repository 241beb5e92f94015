-- region read
-- the largest counts: of windows only, since buckets and logs keep no count. For the busiest subjects, read rate_limit_status
SELECT user_id, resource, request_count
FROM rate_limits
ORDER BY request_count DESC
LIMIT 10;

-- penalties that have not ended, on PostgreSQL
SELECT user_id, resource, violation_count, to_timestamp(penalty_until / 1000000) AS until
FROM rate_limit_penalties
WHERE penalty_until > extract(epoch FROM now()) * 1000000;
-- endregion

-- region change
-- block a user for good (year 3000), and put another one into a tier
INSERT INTO user_quotas (user_id, blocked_until, block_reason) VALUES ('mallory', 32503680000000000, 'fraud');
INSERT INTO user_quotas (user_id, tier) VALUES ('alice', 'premium');

-- reject a network
INSERT INTO rate_limit_rules (rule_name, version, priority, ip_range, action)
VALUES ('scraper', 1, 1000, '203.0.113.0/24', 'block');
-- endregion
