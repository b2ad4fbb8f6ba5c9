-- What became of the events that were sent (ledger.ts). A row holds whole counts, not differences, and a later version replaces it: writing it
-- twice, or nobody knowing whether it was written, changes nothing. `page` keeps the rows of one writer apart from those of others and of its
-- own earlier pages; rows of the page of zeros are those of the recount. Every node of a cluster has all rows, since only rows that lie together
-- replace each other.
create table if not exists ledger {{on cluster}} (
  org_id UInt32 codec(ZSTD(1)),
  -- zeros where the dataset was not known yet
  log_id UUID codec(ZSTD(1)),
  -- when the events arrived
  minute DateTime('UTC') codec(Delta, ZSTD(1)),
  identity_type Enum8('NONE' = 0, 'API_KEY_ID' = 1, 'USER_ID' = 2) codec(ZSTD(1)),
  identity_id UUID codec(ZSTD(1)),
  protocol LowCardinality(String) codec(ZSTD(1)),
  page UUID codec(ZSTD(1)),
  version UInt64 codec(ZSTD(1)),
  received UInt64 codec(T64, ZSTD(1)),
  stored UInt64 codec(T64, ZSTD(1)),
  duplicate UInt64 codec(T64, ZSTD(1)),
  rejected UInt64 codec(T64, ZSTD(1)),
  reasons Map(LowCardinality(String), UInt64) codec(ZSTD(1)),
  truncated UInt64 codec(T64, ZSTD(1)),
  late UInt64 codec(T64, ZSTD(1)),
  -- stored once, and not found by the recount
  missing UInt64 codec(T64, ZSTD(1)),
  wire_bytes UInt64 codec(T64, ZSTD(1)),
  raw_bytes UInt64 codec(T64, ZSTD(1))
)
engine = {{replacing everywhere ledger}}
partition by toYYYYMM(minute)
order by (org_id, log_id, minute, identity_id, protocol, page)
settings {{settings}};
