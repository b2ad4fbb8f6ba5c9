-- Notes of exports: data about the parts that the end of a file needs, written together with each part.
create table export_notes (
  export_id uuid not null references exports (id) on delete cascade,
  org_id uuid not null,
  number int not null,
  note bytea not null,
  primary key (export_id, number)
);
