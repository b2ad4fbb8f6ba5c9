-- How long events are kept: rules of collections and organizations. The rule of a single dataset is in the dataset.
create table retention_rules (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  -- entity is LOG_SET or ORGANISATION.
  entity text not null,
  -- collection is the name of the collection, '' for the organization.
  collection text not null,
  retention text not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint,
  modified_by jsonb,
  unique (org_id, entity, collection)
);
select watch_changes('retention_rules');

-- retention_mark records who set the retention of the dataset and who changed it last.
alter table datasets add column retention_mark jsonb;
create index datasets_deleted on datasets (deleted_at) where deleted_at is not null;

-- The events of a dataset that retention has deleted. Rows change with every deletion, so changes are not notified.
create table event_removals (
  org_id uuid not null references organisations (id),
  log_id uuid primary key references datasets (id) on delete cascade,
  -- events counts all deleted events, last_events those of the last deletion, which had times before before_ms.
  events bigint not null,
  last_events bigint not null,
  last_at bigint not null,
  before_ms bigint not null
);
create index event_removals_by_org on event_removals (org_id);
