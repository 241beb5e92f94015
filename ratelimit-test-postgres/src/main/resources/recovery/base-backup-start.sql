SELECT pg_backup_start('rate limits', fast => true);
