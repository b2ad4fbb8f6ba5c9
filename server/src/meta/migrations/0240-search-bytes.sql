-- The bytes that a running search has read so far, for polls.
alter table searches add column read_bytes bigint not null default 0;
