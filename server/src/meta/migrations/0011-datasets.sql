create table datasets (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  collection text not null,
  dataset text not null,
  is_system_generated boolean not null default false,
  tags jsonb not null default '{}',
  parser_id uuid,
  retention text,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  -- A deleted dataset stays as a tombstone until its events are deleted. Its name is free at once.
  deleted_at bigint,
  deleted_by jsonb
);
create unique index datasets_by_name on datasets (org_id, collection, dataset) where deleted_at is null;
select watch_changes('datasets');
