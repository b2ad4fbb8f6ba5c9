-- Finds the patterns of the families that ingest rules name.
create index pattern_members_of_family on pattern_members (log_id, family) where family is not null;
