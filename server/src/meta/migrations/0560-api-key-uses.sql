-- When a key was used last, to the minute. The rows of keys themselves do not change with their use, so that no process drops what it has cached of them.
create table api_key_uses (
  org_id uuid not null references organisations (id),
  api_key_id uuid primary key references api_keys (id) on delete cascade,
  used_at bigint not null
);
create index api_key_uses_by_org on api_key_uses (org_id);
