-- Hourly counts of each dataset for insights, of the last weeks. They are collected for all organizations from the ledger and from the counts by minute of
-- the event store. These tables change every hour and are not cached, so changes are not notified.
create table insight_hours (
  org_id uuid not null references organisations (id),
  hour_ms bigint not null,
  -- log_id may be a dataset that was deleted meanwhile.
  log_id uuid not null,
  -- events and bytes are those that arrived in the hour.
  events bigint not null,
  bytes bigint not null,
  -- counted, errors and debugs are events with a time in the hour: all, errors and worse, debug and below.
  counted bigint not null,
  errors bigint not null,
  debugs bigint not null,
  primary key (org_id, hour_ms, log_id)
);
create index insight_hours_by_age on insight_hours (hour_ms);

-- A sender is an identity that sends to a dataset. hours counts the hours with events, gap_ms is the longest time without events before gap_at.
create table insight_senders (
  org_id uuid not null references organisations (id),
  log_id uuid not null references datasets (id) on delete cascade,
  identity_id uuid not null,
  first_ms bigint not null,
  last_ms bigint not null,
  hours int not null,
  gap_ms bigint not null,
  gap_at bigint not null,
  primary key (log_id, identity_id)
);
create index insight_senders_by_last on insight_senders (org_id, last_ms);

create table insight_patterns (
  org_id uuid not null references organisations (id),
  log_id uuid not null references datasets (id) on delete cascade,
  pattern text not null,
  first_ms bigint not null,
  last_ms bigint not null,
  hours int not null,
  events bigint not null,
  gap_ms bigint not null,
  gap_at bigint not null,
  primary key (log_id, pattern)
);
create index insight_patterns_by_first on insight_patterns (org_id, first_ms);
create index insight_patterns_by_last on insight_patterns (org_id, last_ms);

create table insight_datasets (
  org_id uuid not null references organisations (id),
  log_id uuid primary key references datasets (id) on delete cascade,
  -- queried_ms is the last search or export.
  queried_ms bigint,
  -- patterns_ms is the time since which every pattern is known; null while the dataset has too many.
  patterns_ms bigint,
  -- version and open_maps are those of the storage layout when its keys were last counted.
  version int,
  open_maps int
);
create index insight_datasets_of on insight_datasets (org_id);

-- The number of keys of a dataset, on days on which it changed.
create table insight_keys (
  org_id uuid not null references organisations (id),
  log_id uuid not null references datasets (id) on delete cascade,
  day_ms bigint not null,
  keys int not null,
  open_maps int not null,
  primary key (log_id, day_ms)
);
create index insight_keys_by_day on insight_keys (org_id, day_ms);

create table insights (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  -- subject makes the insight unique under its name: an id, or two.
  subject text not null,
  entity_type text not null,
  entity_id uuid not null,
  evidence text not null,
  confidence text not null,
  action jsonb not null,
  since_ms bigint not null,
  -- seen_ms is the last evaluation that found it.
  seen_ms bigint not null,
  modified_at bigint not null,
  unique (org_id, name, subject)
);
