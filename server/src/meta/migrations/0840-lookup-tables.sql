-- Tables whose values ingest rules add to events.
create table lookup_tables (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  key_column text not null,
  columns text[] not null,
  rows int not null,
  bytes bigint not null,
  version int not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  unique (org_id, name)
);
select watch_changes('lookup_tables');

-- The file of each table, compressed, without notifications: processes read it when they see a new version of the table.
create table lookup_table_files (
  table_id uuid primary key references lookup_tables (id) on delete cascade,
  version int not null,
  file bytea not null
);
alter table lookup_table_files alter column file set storage external;
