-- Pages of a search: what a link to the next one stands for. The first page of a search holds its question, and lives as long as any other.
-- Nothing of this table is cached, so nobody is told of its changes.
create table search_pages (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  first_id uuid not null,
  -- prev_id is the page before; null on the first.
  prev_id uuid,
  -- question is set on the first page only.
  question jsonb,
  -- after_ns and after_seq are where the page begins, exclusive; null on the first.
  after_ns numeric(20),
  after_seq numeric(20),
  expires_at bigint not null
);
create index search_pages_by_expiry on search_pages (expires_at);

-- Asynchronous searches. The process that runs one beats while it does, so that another can tell when it has died. Nothing of this table is
-- cached either.
create table searches (
  id uuid primary key,
  org_id uuid not null references organisations (id),
  identity jsonb not null,
  status text not null,
  progress int not null default 0,
  started_at bigint not null,
  beat_at bigint not null,
  -- polled_at is when somebody asked for it last: what nobody asks for is not worth running.
  polled_at bigint not null,
  ended_at bigint,
  -- answer is the body of the answer as compressed JSON; null when it has expired.
  answer bytea
);
create index searches_by_start on searches (started_at);
