-- again_at is set while a job is done and asked for once more: what is being done may be past what is asked for.
alter table jobs add column again_at bigint;
