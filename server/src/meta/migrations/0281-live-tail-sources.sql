-- A live tail stores how its datasets were selected, so that it includes datasets that are created while it runs. Existing tails have to be restarted.
delete from live_tails;
alter table live_tails drop column log_ids, add column source jsonb not null;
