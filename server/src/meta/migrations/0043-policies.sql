create table policies (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  description text,
  policy_type text not null,
  resource jsonb not null,
  actions text[] not null,
  restricted boolean not null,
  principal jsonb not null,
  "when" jsonb,
  "unless" jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index policies_by_org on policies (org_id, created_at desc, id);
select watch_changes('policies');
