-- Where the events of a dataset are stored: its table classes in order of use (new events go to the last), and the column of each key. Both only grow,
-- so stored events stay readable.
create table slot_maps (
  org_id uuid not null references organisations (id),
  log_id uuid primary key references datasets (id) on delete cascade,
  version int not null,
  table_classes text[] not null
);
create index slot_maps_by_org on slot_maps (org_id);
select watch_changes('slot_maps');

create table slots (
  org_id uuid not null references organisations (id),
  log_id uuid not null references slot_maps (log_id) on delete cascade,
  path text not null,
  slot text not null,
  -- version is that of the slot map in which the key first has its slot.
  version int not null,
  primary key (log_id, path),
  unique (log_id, slot)
);
create index slots_by_path on slots (org_id, path);
