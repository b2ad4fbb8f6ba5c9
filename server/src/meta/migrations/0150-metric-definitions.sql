create table metric_definitions (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text,
  description text,
  queries jsonb not null,
  formulas jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index metric_definitions_of on metric_definitions (org_id);
select watch_changes('metric_definitions');
