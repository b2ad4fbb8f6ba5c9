-- The event that the deployment writes and searches each minute, to know that both work. One row.
create table canary (
  is_only boolean primary key default true check (is_only),
  -- When the last one was written.
  sent_at bigint not null,
  -- How long it took from then until a search found the last one that was found.
  found_ms bigint,
  found_at bigint,
  -- Why the last one was not found.
  failure text,
  failing_since bigint
);
