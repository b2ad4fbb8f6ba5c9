-- Pages of a search, which links to the next page refer to. The first page holds the query and lives as long as any other. This table is not cached, so
-- changes are not notified.
create table search_pages (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  first_id uuid not null,
  -- prev_id is the previous page; null on the first.
  prev_id uuid,
  -- question is the query; set on the first page only.
  question jsonb,
  -- after_ns and after_seq are the exclusive start of the page; null on the first.
  after_ns numeric(20),
  after_seq numeric(20),
  expires_at bigint not null
);
create index search_pages_by_expiry on search_pages (expires_at);

-- Asynchronous searches. The process that runs one updates its heartbeat, so that others notice when it has died. This table is not cached.
create table searches (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  identity jsonb not null,
  status text not null,
  progress int not null default 0,
  started_at bigint not null,
  beat_at bigint not null,
  -- polled_at is the last poll. A search that is not polled is canceled.
  polled_at bigint not null,
  ended_at bigint,
  -- answer is the response body as compressed JSON; null when it has expired.
  answer bytea
);
create index searches_by_start on searches (started_at);
