-- Templates of every kind. `definition` is the record without the members that all kinds have.
create table templates (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  kind text not null,
  definition jsonb not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index templates_of on templates (org_id, kind);
select watch_changes('templates');

-- The template that a record was created from. Deleting the template does not change the record.
alter table metric_definitions add column template jsonb;
alter table saved_searches add column template jsonb;
