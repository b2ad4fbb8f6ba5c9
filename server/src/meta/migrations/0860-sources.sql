-- Where the service itself fetches events.
create table sources (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  log_id uuid not null,
  paused boolean not null,
  -- The kind of the origin with its settings, without secrets.
  origin jsonb not null,
  -- secrets are the credentials of the origin as JSON, encrypted.
  secrets bytea not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index sources_of on sources (org_id);
select watch_changes('sources');

-- What each source has received. It changes with every batch, so nothing of it is cached.
create table source_states (
  source_id uuid primary key references sources (id) on delete cascade,
  org_id uuid not null,
  -- The process that reads the source, until its lease ends by the clock of this store.
  holder uuid,
  lease_until_ms bigint,
  received_events bigint not null default 0,
  received_bytes bigint not null default 0,
  refused_events bigint not null default 0,
  received_at bigint,
  -- What waits at the origin, as of checked_at: bytes, or messages of a topic in source_positions.
  waiting bigint not null default 0,
  checked_at bigint,
  failures int not null default 0,
  failing_since bigint,
  failure text
);

-- How far each part of an origin is stored: a file, an object, a partition of a topic.
create table source_positions (
  source_id uuid not null references sources (id) on delete cascade,
  -- Part of the idempotency keys of its batches, so content that replaces other content has an id of its own.
  id uuid not null,
  org_id uuid not null,
  -- Names the part at its origin; null for content whose place is unknown.
  part text,
  -- Everything below is stored.
  position bigint not null,
  -- The end of the batch that is being stored. It is saved before the batch is sent, so that a repeat sends the same events under the same key.
  planned_to bigint,
  planned_at bigint,
  waiting bigint not null default 0,
  details jsonb not null,
  seen_at bigint not null,
  primary key (source_id, id),
  unique (source_id, part)
);
