-- A page token leads only its own caller on. Tokens that were given out before say nothing of theirs, and are refused.
alter table search_pages add column identity jsonb;

-- log_ids are the datasets that a kept answer was read from: it is shown to those who may see all of them. Of answers that were kept before,
-- nobody knows.
alter table searches add column log_ids uuid[];

-- reads are the datasets from which a monitor has ever read what its records say.
alter table monitor_states add column reads uuid[] not null default '{}';
