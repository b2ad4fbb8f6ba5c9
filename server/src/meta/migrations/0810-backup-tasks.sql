-- Work on backups: making, verifying and restoring from them. The backups themselves are known by what lies in their place, not by these rows. The table is not
-- cached, so changes are not notified.
create table backup_tasks (
  id uuid primary key,
  task text not null,
  status text not null,
  trigger text not null,
  -- backup names the one that is made, verified or restored from.
  backup text,
  -- made_at is the moment of that backup's metadata.
  made_at bigint,
  created_at bigint not null,
  created_by jsonb,
  started_at bigint,
  ended_at bigint,
  failure_detail text,
  rows bigint,
  -- The organization and the new dataset of a restoration, and what was asked for.
  org_id uuid,
  dataset_id uuid,
  request jsonb
);
-- One open task of each kind is enough.
create unique index backup_tasks_open on backup_tasks (task) where ended_at is null;
create index backup_tasks_by_time on backup_tasks (created_at);
