-- The dashboards and monitors that were created from a content pack for a dataset, so that none is created twice. `part` is `dashboard`, or the
-- name of a monitor within the pack. A record that was deleted counts as not created.
create table content_pack_records (
  org_id uuid not null references organisations (id),
  log_id uuid not null references datasets (id) on delete cascade,
  pack text not null,
  part text not null,
  record_id uuid not null,
  primary key (log_id, pack, part)
);
