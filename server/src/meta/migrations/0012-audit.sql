create table audit (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  time bigint not null,
  actor jsonb,
  actor_name text not null,
  address text not null,
  user_agent text not null,
  action text not null,
  outcome text not null,
  entity_type text not null,
  entity_id text not null,
  before jsonb,
  after jsonb,
  correlation_id text not null
);
create index audit_by_time on audit (org_id, time desc, id desc);
