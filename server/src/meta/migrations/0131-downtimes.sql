create table downtimes (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text not null,
  -- covers names logs and monitors, including deleted ones.
  covers uuid[] not null,
  suppress_recovery_alert boolean not null,
  alert_strategy text not null,
  static_time_range jsonb,
  dynamic_time_range jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index downtimes_of on downtimes (org_id);
select watch_changes('downtimes');
