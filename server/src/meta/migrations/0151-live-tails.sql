-- Live tails. Rows change at every poll, so changes are not notified.
create table live_tails (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  identity jsonb not null,
  log_ids uuid[] not null,
  condition text not null,
  -- polled_at is the last poll; earlier events were returned.
  polled_at bigint not null
);
create index live_tails_by_poll on live_tails (polled_at);
