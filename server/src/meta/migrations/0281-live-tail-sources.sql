-- A live tail keeps how its datasets were asked for, so that those that are made while it runs are taken in. Who watches starts again.
delete from live_tails;
alter table live_tails drop column log_ids, add column source jsonb not null;
