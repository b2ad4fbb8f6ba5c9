-- Estimates of what makes up the bytes of a dataset on a day, from samples of lines at their arrival (ledger/samples.ts). A row holds the complete sum of
-- a page, and a later version replaces it, so an insert can be repeated. Every node of a cluster has all rows.
create table if not exists spend_samples {{on cluster}} (
  org_id UInt32 codec(ZSTD(1)),
  log_id UUID codec(ZSTD(1)),
  day DateTime('UTC') codec(Delta, ZSTD(1)),
  kind Enum8('pattern' = 1, 'field' = 2, 'sender' = 3) codec(ZSTD(1)),
  -- empty for what has too many names
  name String codec(ZSTD(1)),
  page UUID codec(ZSTD(1)),
  version UInt64 codec(ZSTD(1)),
  bytes UInt64 codec(T64, ZSTD(1))
)
engine = {{replacing everywhere spend_samples}}
partition by toYYYYMM(day)
order by (org_id, kind, log_id, day, name, page)
ttl day + interval 400 day
settings {{settings}};
