-- data_keys holds each organization's data key for its secrets, encrypted with the master key.
create table data_keys (
  org_id uuid primary key references organisations (id),
  wrapped bytea not null
);

create table webhooks (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  url text not null,
  -- headers are encrypted: names and values as JSON.
  headers bytea not null,
  header_names jsonb not null,
  payload text,
  signing_secret bytea,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index webhooks_of on webhooks (org_id);
select watch_changes('webhooks');
