create table agent_configs (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  -- sealed is the encrypted response: a given file may contain passwords.
  sealed bytea not null,
  created_at bigint not null,
  created_by jsonb
);
create index agent_configs_of on agent_configs (org_id, created_at desc);
