-- Who watches what as it arrives. A row changes at every poll, so its changes are told to nobody.
create table live_tails (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  identity jsonb not null,
  log_ids uuid[] not null,
  condition text not null,
  -- polled_at is when events were asked for last: what arrived before has been shown.
  polled_at bigint not null
);
create index live_tails_by_poll on live_tails (polled_at);
