-- The sealed credentials of the bucket that a rehydration reads, until it has ended.
alter table rehydrations add column secrets bytea;
