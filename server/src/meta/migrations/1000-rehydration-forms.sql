-- How rows of a Parquet file become lines, whose bytes positions count: 2 with fields that the line does not have, 1 without them.
alter table rehydration_files add column form smallint not null default 1;
