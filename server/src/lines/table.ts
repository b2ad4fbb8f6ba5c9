/** A Column of the events tables; codecs were chosen by measurement, and unused slots compress to nothing. */
export type TableColumn = { name: string; type: string; codec: string }

/** The classes of events tables differ in their number of slots only; a dataset gets its class with its first batch, since unused slots cost time. */
export const tableClasses = {
  s: { table: 'events_s', cSlots: 8, sSlots: 8 },
  m: { table: 'events_m', cSlots: 24, sSlots: 24 },
  l: { table: 'events_l', cSlots: 64, sSlots: 48 },
} as const

export type TableClass = keyof typeof tableClasses
export const tableClassNames: readonly TableClass[] = ['s', 'm', 'l']

/** severities are what `sev` may be, from none to fatal, with their stored numbers. */
export const severities = { none: 0, trace: 1, debug: 2, info: 3, warn: 4, error: 5, fatal: 6 } as const

const severityType = `Enum8(${Object.entries(severities)
  .map(([name, number]) => `'${name}' = ${number}`)
  .join(', ')})`

const TEXT = 'String'
const REPETITIVE_TEXT = 'LowCardinality(String)'
const PLAIN = 'ZSTD(1)'

/**
 * fixedColumns are the columns that every events table has, before its slots.
 * - `org_id` is the organization's number; row policies isolate organizations by it (engine-config.ts).
 * - `ts` is the time of the event in nanoseconds since 1970; the days of partitions are those of UTC.
 * - `seq` is unique in the deployment and rises whatever the clock does.
 * - `skeleton` is the hash of the message without its variable parts, 0 for none; patterns are groups of it.
 * - `post` is the numeric idempotency key of the post that brought the event, 0 for none; it is stored atomically with the event.
 * - `shape` is the line with its values cut out, '' when `raw` holds the line; `raw` is '' when shape and slots give it back.
 * - `more` is the overflow map: values of paths without a slot, in the order of the line.
 * - `parts` is the shape of a line with open maps (parts.ts), which `shape` only marks.
 */
export const fixedColumns: readonly TableColumn[] = [
  { name: 'org_id', type: 'UInt32', codec: PLAIN },
  { name: 'log_id', type: 'UUID', codec: PLAIN },
  { name: 'ts', type: "DateTime64(9, 'UTC')", codec: 'GCD, Delta, T64, ZSTD(1)' },
  { name: 'seq', type: 'UInt64', codec: 'DoubleDelta, ZSTD(1)' },
  { name: 'sev', type: severityType, codec: PLAIN },
  { name: 'origin', type: REPETITIVE_TEXT, codec: PLAIN },
  { name: 'skeleton', type: 'UInt64', codec: PLAIN },
  { name: 'post', type: 'UInt64', codec: PLAIN },
  { name: 'shape', type: REPETITIVE_TEXT, codec: PLAIN },
  { name: 'raw', type: TEXT, codec: PLAIN },
  { name: 'more', type: 'Map(LowCardinality(String), String)', codec: PLAIN },
  { name: 'parts', type: 'Array(LowCardinality(String))', codec: PLAIN },
]

/** slotColumns are `c0`… for values that repeat and `s0`… for the rest. */
export const slotColumns = (tableClass: TableClass): readonly TableColumn[] => {
  const { cSlots, sSlots } = tableClasses[tableClass]
  return [...slots('c', cSlots, REPETITIVE_TEXT), ...slots('s', sSlots, TEXT)]
}

const slots = (prefix: string, count: number, type: string): TableColumn[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, type, codec: PLAIN }))

export const columns = (tableClass: TableClass): readonly TableColumn[] => [...fixedColumns, ...slotColumns(tableClass)]

/**
 * tokensOf is the expression of the one index over all values. A query is served by the index only when it says exactly this, as in
 * `has(<tokensOf>, 'word')` with the word in lower case.
 */
export const tokensOf = (tableClass: TableClass): string => {
  const values = [...slotColumns(tableClass).map((column) => column.name), 'raw', "arrayStringConcat(mapValues(more), ' ')"]
  return `tokens(lower(concat_ws(' ', ${values.join(', ')})))`
}

/** SORT_KEY, PARTITION_KEY and SHARD_KEY of every events table; a shard key that moves on with `seq` spreads a large dataset. */
export const SORT_KEY = '(log_id, ts, seq)'
export const PARTITION_KEY = 'toDate(ts)'
export const SHARD_KEY = 'cityHash64(log_id, intDiv(seq, 1000000))'

/**
 * tableSettings hold for every table of the event store, not only for events: each of them was found necessary by cutting the power under
 * load, and removing one needs a new such run (test/power-cut.ts).
 */
export const tableSettings = {
  fsync_after_insert: 1,
  fsync_part_directory: 1,
  min_rows_to_fsync_after_merge: 1,
  min_compressed_bytes_to_fsync_after_merge: 1,
  // The sources of a merge stand in for a result that did not reach the disk; the embedded default removes them at once.
  old_parts_lifetime: 480,
  // Such a broken result must not keep the engine from starting.
  max_suspicious_broken_parts: 1_000_000,
  max_suspicious_broken_parts_bytes: 1_000_000_000_000,
  non_replicated_deduplication_window: 10_000,
  // An insert writes one file for all columns and not two for each, every one of which would be synced; the first merge takes them apart.
  min_level_for_wide_part: 1,
} as const

/** replicatedSettings come on top where tables are replicated. */
export const replicatedSettings = {
  min_compressed_bytes_to_fsync_after_fetch: 1,
  replicated_deduplication_window: 10_000,
} as const

/** localTable is the table that an insert goes to: in a cluster the share of the node spoken to, while reads go to the table of the plain name. */
export const localTable = (table: string, cluster: string | undefined): string => (cluster === undefined ? table : `${table}_local`)
