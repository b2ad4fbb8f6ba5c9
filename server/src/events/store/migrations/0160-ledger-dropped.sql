-- Counts what ingest rules did: events that were dropped, the bytes of their lines, and the events that each rule dropped or changed, by its id.
alter table ledger {{on cluster}}
  add column if not exists dropped UInt64 codec(T64, ZSTD(1)),
  add column if not exists dropped_bytes UInt64 codec(T64, ZSTD(1)),
  add column if not exists rules Map(String, UInt64) codec(ZSTD(1));
