-- The lengths in seconds of the periods by which the rows of a dataset are sorted (server/src/lines/periods.ts). Zero stands for rows sorted by time, as those
-- of all datasets from before.
alter table slot_maps add column periods int[] not null default '{0}';
