-- What searches and exports took, by minute, dataset and who asked; what is ingested stands in the ledger of the event store. Processes add to a
-- row every second, and nobody caches it, so nobody is told of its changes.
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
