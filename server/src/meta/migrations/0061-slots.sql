-- Where the events of a dataset lie: the classes of tables they went to, in the order of their use (new ones go to the last), and which
-- column holds the values of which key. Both only grow, so that what was once written is found for ever.
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
  -- version is that of the map in which the key first has its slot.
  version int not null,
  primary key (log_id, path),
  unique (log_id, slot)
);
create index slots_by_path on slots (org_id, path);
