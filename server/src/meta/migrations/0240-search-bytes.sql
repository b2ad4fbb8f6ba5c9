-- How much a search that runs has read so far, for whoever asks after it.
alter table searches add column read_bytes bigint not null default 0;
