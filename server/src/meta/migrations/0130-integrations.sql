-- data_keys hold, wrapped by the master key, the key under which an organisation's secrets are encrypted.
create table data_keys (
  org_id uuid primary key references organisations (id),
  wrapped bytea not null
);

create table webhooks (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  url text not null,
  -- headers are sealed: names and values as JSON.
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
