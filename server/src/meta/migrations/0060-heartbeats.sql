-- The last arrival of data. Rows change every few seconds while a dataset receives events, so changes are not notified; readers reload them after a
-- while.
create table dataset_heartbeats (
  org_id uuid not null references organisations (id),
  log_id uuid primary key references datasets (id) on delete cascade,
  beat_at bigint not null
);
create index dataset_heartbeats_by_org on dataset_heartbeats (org_id);

-- The number of datasets that a credential has created by sending events, per hour.
create table dataset_births (
  org_id uuid not null references organisations (id),
  identity_id uuid not null,
  hour_start_ms bigint not null,
  births int not null,
  primary key (org_id, identity_id, hour_start_ms)
);
