create table roles (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  role_type text not null,
  display_name text not null,
  description text,
  permissions text[] not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create unique index roles_by_name on roles (org_id, lower(display_name));
select watch_changes('roles');
