-- The shape of a line with open maps, in parts (server/src/lines/parts.ts). New tables have the column from the start.
alter table {{local events_s}} {{on cluster}} add column if not exists parts Array(LowCardinality(String)) codec(ZSTD(1));
alter table {{local events_m}} {{on cluster}} add column if not exists parts Array(LowCardinality(String)) codec(ZSTD(1));
alter table {{local events_l}} {{on cluster}} add column if not exists parts Array(LowCardinality(String)) codec(ZSTD(1));
-- On one server these are the same tables, in a cluster those that read all shards.
alter table events_s {{on cluster}} add column if not exists parts Array(LowCardinality(String));
alter table events_m {{on cluster}} add column if not exists parts Array(LowCardinality(String));
alter table events_l {{on cluster}} add column if not exists parts Array(LowCardinality(String));
