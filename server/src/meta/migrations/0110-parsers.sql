create table parsers (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  type text not null,
  pattern text not null,
  -- log_id is the dataset that the parser was created for; it need not be assigned to it.
  log_id uuid not null,
  enabled boolean not null,
  description text,
  log_lines jsonb,
  parsed_lines jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index parsers_by_org on parsers (org_id, created_at);
select watch_changes('parsers');

-- Counts of the assigned parsers, by the minute in which the lines arrived.
create table parser_minutes (
  org_id uuid not null references organisations (id),
  log_id uuid not null references datasets (id) on delete cascade,
  minute_ms bigint not null,
  lines bigint not null,
  matched bigint not null,
  given_up bigint not null,
  duration_ns bigint not null,
  primary key (org_id, log_id, minute_ms)
);
