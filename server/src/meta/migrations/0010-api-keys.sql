create table api_keys (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  api_key text not null unique,
  secret_hash bytea not null unique,
  roles text[] not null,
  tags jsonb not null default '{}',
  expires_at bigint,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index api_keys_by_org on api_keys (org_id, created_at desc, id);
select watch_changes('api_keys');
