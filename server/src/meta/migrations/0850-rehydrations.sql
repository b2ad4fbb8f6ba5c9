-- Events that are read from files back into a dataset.
create table rehydrations (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  log_id uuid not null,
  origin jsonb not null,
  from_ts bigint,
  to_ts bigint,
  filter text,
  status text not null,
  -- The files are listed once; from then on rehydration_files has them.
  is_listed boolean not null default false,
  failure_detail text,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb,
  ended_at bigint
);
-- One at a time for each dataset, so that what another one has stored is known.
create unique index rehydrations_open on rehydrations (org_id, log_id) where ended_at is null;
create index rehydrations_of on rehydrations (org_id, created_at desc);

-- The receipts, and how far each file is stored.
create table rehydration_files (
  rehydration_id uuid not null references rehydrations (id) on delete cascade,
  number int not null,
  org_id uuid not null,
  log_id uuid not null,
  -- The path with the size and the time of the last change.
  file text not null,
  name text not null,
  bytes bigint not null,
  status text not null,
  -- Everything before it is stored. planned_to is the end of the batch that is being stored; it is saved before the batch is sent.
  position bigint not null default 0,
  planned_to bigint,
  planned_at bigint,
  in_line boolean not null default false,
  read_events bigint not null default 0,
  stored_events bigint not null default 0,
  earlier_events bigint not null default 0,
  unselected_events bigint not null default 0,
  refused_events bigint not null default 0,
  failure_detail text,
  primary key (rehydration_id, number)
);
create index rehydration_files_of on rehydration_files (log_id, file);
