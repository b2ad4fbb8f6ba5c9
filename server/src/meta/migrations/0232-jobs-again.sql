-- again_at is set when a running job is enqueued again: it may be past the new work.
alter table jobs add column again_at bigint;
