-- Where events are forwarded to. A config that is deleted stays with ends_at until the events that arrived before are delivered.
create table forward_configs (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  filter text,
  all_logs boolean not null,
  log_ids uuid[] not null,
  format text not null,
  compression text not null,
  max_payload_size_bytes bigint not null,
  max_payload_size_events bigint not null,
  max_buffer_time_ms bigint not null,
  destination jsonb not null,
  -- secrets are the credentials of the destination as JSON, encrypted.
  secrets bytea not null,
  -- Events are read as the author, with the roles of that time if the author is gone.
  author jsonb not null,
  author_roles jsonb not null,
  ends_at bigint,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index forward_configs_of on forward_configs (org_id);
select watch_changes('forward_configs');

-- How far each config has been delivered. It changes with every payload, so nothing of it is cached.
create table forward_deliveries (
  config_id uuid primary key references forward_configs (id) on delete cascade,
  org_id uuid not null,
  -- Every event with a number up to position is delivered.
  position bigint not null,
  -- payload is the one that is being delivered: its range and the names of its objects, so that a repeat overwrites them.
  payload jsonb,
  state jsonb not null
);
