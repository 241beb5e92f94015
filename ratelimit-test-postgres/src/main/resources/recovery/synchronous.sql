ALTER SYSTEM SET synchronous_standby_names = 'standby';
SELECT pg_reload_conf();
SELECT application_name, sync_state FROM pg_stat_replication;
