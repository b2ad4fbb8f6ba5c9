-- Usage of searches and exports by minute, dataset and caller. The ledger of the event store has the usage of ingestion. Processes add to rows every
-- second and do not cache them, so changes are not notified.
create table usage_minutes (
  org_id uuid not null references organisations (id),
  kind text not null,
  minute_ms bigint not null,
  log_id uuid not null,
  identity_id uuid not null,
  count bigint not null,
  bytes bigint not null,
  latency_ms double precision not null,
  primary key (org_id, kind, minute_ms, log_id, identity_id)
);
create index usage_minutes_by_age on usage_minutes (minute_ms);
