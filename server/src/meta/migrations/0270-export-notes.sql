-- Notes of exports: what the end of a file has to tell of its parts, written down together with each of them.
create table export_notes (
  export_id uuid not null references exports (id) on delete cascade,
  org_id uuid not null,
  number int not null,
  note bytea not null,
  primary key (export_id, number)
);
