-- The limits of the queries of a key, below those of its roles; a limit that is absent is that of its roles.
alter table api_keys add column query_budget jsonb not null default '{}';
