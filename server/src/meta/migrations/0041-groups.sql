create table groups (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create unique index groups_by_name on groups (org_id, lower(name));
select watch_changes('groups');

create table group_members (
  org_id uuid not null references organisations (id),
  group_id uuid not null references groups (id) on delete cascade,
  -- member_id is a user or a group of the same organization. Deleting one deletes its memberships in the same transaction.
  member_id uuid not null,
  member_type text not null,
  modified_at bigint not null,
  primary key (group_id, member_id)
);
create index group_members_by_member on group_members (org_id, member_id);
select watch_changes('group_members');
