-- How long events are kept. The rule of a single dataset is the dataset's own retention; here are those of collections and of organisations.
create table retention_rules (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  -- entity is LOG_SET or ORGANISATION.
  entity text not null,
  -- collection is the name of the collection, '' for the organisation.
  collection text not null,
  retention text not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint,
  modified_by jsonb,
  unique (org_id, entity, collection)
);
select watch_changes('retention_rules');

-- retention_mark tells who gave the dataset a retention of its own, and who changed it last.
alter table datasets add column retention_mark jsonb;
create index datasets_deleted on datasets (deleted_at) where deleted_at is not null;

-- What retention has taken of a dataset. A row changes with every removal, so its changes are told to nobody.
create table event_removals (
  org_id uuid not null references organisations (id),
  log_id uuid primary key references datasets (id) on delete cascade,
  -- events are all that were ever taken; last_events those of the last removal, which were of times before before_ms.
  events bigint not null,
  last_events bigint not null,
  last_at bigint not null,
  before_ms bigint not null
);
create index event_removals_by_org on event_removals (org_id);
