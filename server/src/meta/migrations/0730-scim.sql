-- scim_users has what a directory says about a user beyond the user record.
create table scim_users (
  org_id uuid not null references organisations (id),
  user_id uuid primary key references users (id) on delete cascade,
  user_name text not null,
  -- The normalized user name.
  user_name_key text not null,
  external_id text,
  -- All attributes of the directory that have no column, such as a title or a department.
  attributes jsonb not null,
  modified_at bigint not null,
  unique (org_id, user_name_key)
);
create index scim_users_by_external_id on scim_users (org_id, external_id);

-- scim_groups has the groups that a directory manages.
create table scim_groups (
  org_id uuid not null references organisations (id),
  group_id uuid primary key references groups (id) on delete cascade,
  external_id text,
  modified_at bigint not null
);
create index scim_groups_of on scim_groups (org_id);
