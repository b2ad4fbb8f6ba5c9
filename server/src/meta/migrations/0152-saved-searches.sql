create table saved_searches (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  search_details jsonb not null,
  log_ids uuid[],
  tags jsonb not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index saved_searches_of on saved_searches (org_id);
select watch_changes('saved_searches');
