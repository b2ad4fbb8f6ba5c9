-- Exports with their requests and progress. This table is not cached, so changes are not notified.
create table exports (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  status text not null,
  progress int not null default 0,
  bytes bigint not null default 0,
  events bigint not null default 0,
  search_details jsonb not null,
  format text not null,
  compression text not null,
  -- seq_max is the highest sequence number of the export; later events do not belong to it.
  seq_max numeric(20) not null,
  -- state is the progress: the written parts of the file, and the event to continue after.
  state jsonb not null default '{}',
  failure_detail text,
  created_at bigint not null,
  created_by jsonb not null,
  modified_at bigint not null,
  ended_at bigint
);
create index exports_of on exports (org_id, created_at);
create index exports_by_end on exports (ended_at);
