-- Exports: what was ordered, and how far it is. Nothing of this table is cached, so nobody is told of its changes.
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
  -- seq_max is the highest number of an event that belongs to it: what arrives later does not.
  seq_max numeric(20) not null,
  -- state is how far the work is: what of the file is written, and behind which event it goes on.
  state jsonb not null default '{}',
  failure_detail text,
  created_at bigint not null,
  created_by jsonb not null,
  modified_at bigint not null,
  ended_at bigint
);
create index exports_of on exports (org_id, created_at);
create index exports_by_end on exports (ended_at);
