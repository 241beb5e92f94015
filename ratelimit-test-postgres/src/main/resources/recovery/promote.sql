SELECT pg_promote();
