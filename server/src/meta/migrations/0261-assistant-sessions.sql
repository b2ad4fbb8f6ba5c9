-- The last proposal of an assistant to a caller, so that the next request can continue it.
create table assistant_sessions (
  org_id uuid not null references organisations (id),
  identity_id uuid not null,
  id uuid not null,
  choice jsonb not null,
  touched_at bigint not null,
  primary key (org_id, identity_id, id)
);
create index assistant_sessions_by_touch on assistant_sessions (touched_at);
