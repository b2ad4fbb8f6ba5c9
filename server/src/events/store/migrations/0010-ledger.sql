-- Accounts for every event that was sent (ledger.ts). A row holds complete counts, not differences, and a later version replaces it, so an insert
-- can be repeated. `page` separates the rows of one writer from those of others and of its own earlier pages; the page of zeros has the rows of
-- recounts. Every node of a cluster has all rows, since only rows on one node replace each other.
create table if not exists ledger {{on cluster}} (
  org_id UInt32 codec(ZSTD(1)),
  -- zeros when the dataset was unknown
  log_id UUID codec(ZSTD(1)),
  -- the minute of arrival
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
  -- stored, but not found by a recount
  missing UInt64 codec(T64, ZSTD(1)),
  wire_bytes UInt64 codec(T64, ZSTD(1)),
  raw_bytes UInt64 codec(T64, ZSTD(1))
)
engine = {{replacing everywhere ledger}}
partition by toYYYYMM(minute)
order by (org_id, log_id, minute, identity_id, protocol, page)
settings {{settings}};
