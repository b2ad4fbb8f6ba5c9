-- Investigations: pinned queries with words, in order.
create table notebooks (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  steps jsonb not null,
  version integer not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index notebooks_of on notebooks (org_id);
select watch_changes('notebooks');
