create table access_grants (
  org_id uuid not null references organisations (id),
  entity_type text not null,
  -- entity_id is a group of this organization, or a user of this or another one.
  entity_id uuid not null,
  roles text[] not null,
  status text not null,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  primary key (org_id, entity_type, entity_id)
);
create index access_grants_by_entity on access_grants (entity_id);
select watch_changes('access_grants');

-- active_organisations is the organization of a user's next login when it is not that of the user record.
create table active_organisations (
  user_id uuid primary key,
  org_id uuid not null references organisations (id)
);
