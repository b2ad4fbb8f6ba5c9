import { LONGEST_PERIOD_S, NO_PERIOD } from './periods.ts'

/** A column of the events tables. Codecs were chosen by measurement; unused slots compress to nothing. */
export type TableColumn = { name: string; type: string; codec: string }

/**
 * The classes of events tables; they differ only in their number of slots. A dataset gets its class with its first batch, since unused
 * slots cost time.
 */
export const tableClasses = {
  s: { cSlots: 8, sSlots: 8 },
  m: { cSlots: 24, sSlots: 24 },
  l: { cSlots: 64, sSlots: 48 },
} as const

export type TableClass = keyof typeof tableClasses
export const tableClassNames: readonly TableClass[] = ['s', 'm', 'l']

/**
 * The table for the rows of a period of so many seconds (periods.ts). Rows of periods lie in tables that are sorted by pattern within each period. Rows without
 * periods lie in tables that are sorted by time, as all did in earlier versions; they stay there until their retention ends.
 */
export const eventsTable = (tableClass: TableClass, periodS: number): string =>
  periodS === NO_PERIOD ? `events_${tableClass}` : `pattern_events_${tableClass}`

/** An events table, and the class that tells its slots. */
export type EventsTable = { readonly table: string; readonly tableClass: TableClass }
export const classedTables: readonly EventsTable[] = tableClassNames.flatMap((tableClass) =>
  [NO_PERIOD, LONGEST_PERIOD_S].map((periodS) => ({ table: eventsTable(tableClass, periodS), tableClass })),
)
/** All tables of events. */
export const eventsTables: readonly string[] = classedTables.map(({ table }) => table)

/** The values of `sev` with their stored numbers. */
export const severities = { none: 0, trace: 1, debug: 2, info: 3, warn: 4, error: 5, fatal: 6 } as const

const severityType = `Enum8(${Object.entries(severities)
  .map(([name, number]) => `'${name}' = ${number}`)
  .join(', ')})`

const TEXT = 'String'
const REPETITIVE_TEXT = 'LowCardinality(String)'
const PLAIN = 'ZSTD(1)'

/**
 * The columns of every events table, before its slots.
 * - `org_id` is the organization's number; row policies isolate organizations by it (engine-config.ts).
 * - `ts` is the time of the event in nanoseconds since 1970; partitions are days in UTC.
 * - `seq` is unique in the deployment and rises even when the clock is set back.
 * - `skeleton` is the hash of the message without its variable parts, 0 for none; patterns group by it.
 * - `post` is the numeric idempotency key of the post that brought the event, 0 for none; it is stored atomically with the event.
 * - `shape` is the line with its values cut out, '' when `raw` holds the line; `raw` is '' when shape and slots rebuild it.
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

/** `c0`… for repeated values and `s0`… for the others. */
export const slotColumns = (tableClass: TableClass): readonly TableColumn[] => {
  const { cSlots, sSlots } = tableClasses[tableClass]
  return [...slots('c', cSlots, REPETITIVE_TEXT), ...slots('s', sSlots, TEXT)]
}

const slots = (prefix: string, count: number, type: string): TableColumn[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, type, codec: PLAIN }))

export const columns = (tableClass: TableClass): readonly TableColumn[] => [...fixedColumns, ...slotColumns(tableClass)]

/**
 * The expression of the one index over all values. The index serves a query only when the query contains exactly this text, as in
 * `has(<tokensOf>, 'word')` with a lower-case word.
 */
export const tokensOf = (tableClass: TableClass): string => `tokens(${valuesOf(tableClass)})`

/**
 * The share of granules in which the index of all words claims a word that they do not have. A search for an id reads all values of such a granule,
 * which takes as long as a hundredth of the index. A third of the share makes the index a third larger.
 */
export const WRONG_WORDS = 0.003

function valuesOf(tableClass: TableClass): string {
  const values = [...slotColumns(tableClass).map((column) => column.name), 'raw', "arrayStringConcat(mapValues(more), ' ')"]
  return `lower(concat_ws(' ', ${values.join(', ')}))`
}

/** The control characters that JSON writes with hexadecimal digits, or as `\\b` and `\\f`. */
const CONTROLS = Array.from({ length: 32 }, (_, code) => code).filter((code) => ![0, 9, 10, 13].includes(code))
const CONTROL_TEXTS = CONTROLS.map((code) => `'\\x${code.toString(16).padStart(2, '0')}'`).join(', ')

/**
 * The expression of the index `longest`: the length in bytes of the longest word of an event, by which a search for an id knows where the id
 * cannot be part of a longer word. The names of overflow keys are not in `tokensOf`, so they count as one byte longer. An event with a control
 * character counts as one with an endless word, because a text may begin inside the escape sequence of the character.
 */
export function longestWordOf(tableClass: TableClass): string {
  const values = valuesOf(tableClass)
  const longest = (words: string) => `arrayMax(arrayMap(word -> length(word), ${words}))`
  const inNames = `if(length(more) = 0, 0, 1 + ${longest("tokens(arrayStringConcat(mapKeys(more), ' '))")})`
  return `if(multiSearchAny(${values}, [${CONTROL_TEXTS}]), ${ENDLESS}, greatest(${longest(`tokens(${values})`)}, ${inNames}))`
}

/** The length of an endless word in the index `longest`. */
export const ENDLESS = 4_294_967_295

/** The index `pieces` has pieces of so many bytes. */
export const PIECE_BYTES = 16
/** Words of values with more bytes than this are in the index `pieces`. */
export const PIECED_BYTES = 2 * PIECE_BYTES

/**
 * The share of granules in which the index `pieces` claims a piece that they do not have. A search asks for PIECE_BYTES pieces at once. Reading all
 * values of a granule takes longer than a larger index.
 */
export const WRONG_PIECES = 0.0001

/**
 * The expression of the index `pieces`: the long words of an event, each cut from its beginning into pieces of PIECE_BYTES. A long word that contains
 * an id of PIECED_BYTES or more has one of its pieces wholly inside the id, so a search for the id looks for the pieces that the id can have.
 * `tokensOf` lacks the names of overflow keys, so their words are here if they are as long as such an id. The engine uses an index only if the functions
 * in its expression capture no constants.
 */
export function piecesOf(tableClass: TableClass): string {
  const texts = [valuesOf(tableClass), "lower(arrayStringConcat(mapKeys(more), ' '))"]
  const words = `[${texts.map((text) => `tokens(${text})`).join(', ')}], [${PIECED_BYTES}, ${PIECED_BYTES - 1}]`
  const longWords = `arrayMap((words, limit) -> arrayFilter(word -> length(word) > limit, words), ${words})`
  return `extractAll(arrayStringConcat(arrayFlatten(${longWords}), ' '), '[^ ]{${PIECE_BYTES}}')`
}

/**
 * The expression of the index `distinct_parts`: the parts of an event, each once. Events of one program mostly have the same, so the index knows all
 * parts of a granule, and a search that knows them too need not read them.
 */
export const DISTINCT_PARTS = 'arrayDistinct(parts)'
/** With more different lists in a granule, the index leaves it to be read. */
export const PART_LISTS_MAX = 64

/**
 * The columns by which the store counts the events of each minute, in one projection (migration 0040). The first slots belong to the most frequent
 * keys of a dataset; the shapes are needed for every search of lines. With more columns there would be as many counts as events, and every
 * further projection costs each insert a tenth.
 */
export const countedColumns: readonly string[] = ['sev', 'shape', 'c0', 'c1']
/** The minute of an event in the projection, which serves a query only when it contains exactly this text. */
export const MINUTE_OF_EVENT = 'toRelativeMinuteNum(ts)'

/**
 * The indexes that inserts and merges leave out. Most are computed from nearly all columns, which takes more than a merge without them and keeps
 * merges from going column by column. `late-indexes.ts` adds them to parts that have settled.
 */
export const lateIndexes: readonly string[] = ['tok', 'longest', 'pieces', 'distinct_parts']
/** The indexes that inserts leave out. Small parts are soon merged, and merges build that of overflow keys. Parts that settle before get all of them. */
export const indexesAfterInsert: readonly string[] = [...lateIndexes, 'names']

export const SORT_KEY = '(log_id, ts, seq)'
/** Rows of one pattern lie together within a period of time: they compress to half, and a search reads the granules of fewer patterns. */
export const PATTERN_SORT_KEY = '(log_id, period_s, period, skeleton, ts, seq)'
/** The part of it that is kept in memory. */
export const PATTERN_PRIMARY_KEY = '(log_id, period_s, period, skeleton)'

const COUNTED_BY_PERIOD = 'org_id, log_id, period_s, period, skeleton'
/** The number of events of each pattern in each period, and the newest of them (migration 0260). There are few, because a period has 25,000 rows. */
export const PATTERN_COUNTS = `(select ${COUNTED_BY_PERIOD}, count(), max(seq) group by ${COUNTED_BY_PERIOD})`

/**
 * The columns that only tables sorted by pattern have: the length of the period in seconds, which the writer chooses, and the number of the period since
 * 1970.
 */
export const PERIOD_LENGTH: TableColumn = { name: 'period_s', type: 'UInt32', codec: PLAIN }
const PERIOD: TableColumn = {
  name: 'period',
  type: 'Int64 materialized intDiv(toUnixTimestamp64Milli(ts), toInt64(period_s) * 1000)',
  codec: PLAIN,
}
/** In the order of patterns, sequence numbers neither rise nor fall evenly. */
const SEQ_CODEC = 'Delta, T64, ZSTD(1)'
export const patternColumns = (tableClass: TableClass): readonly TableColumn[] => [
  ...columns(tableClass).map((column) => (column.name === 'seq' ? { ...column, codec: SEQ_CODEC } : column)),
  PERIOD_LENGTH,
  PERIOD,
]

/** A shard key that changes with `seq` spreads a large dataset over the shards. */
export const PARTITION_KEY = 'toDate(ts)'
export const SHARD_KEY = 'cityHash64(log_id, intDiv(seq, 1000000))'

/**
 * Settings of every table of the event store, not only of events. Each was found necessary by cutting the power under load; repeat such a
 * run before you remove one (test/programs/power-cut.ts).
 */
export const tableSettings = {
  fsync_after_insert: 1,
  fsync_part_directory: 1,
  min_rows_to_fsync_after_merge: 1,
  min_compressed_bytes_to_fsync_after_merge: 1,
  // A merge's sources replace a result that did not reach the disk. The embedded engine's default deletes them at once.
  old_parts_lifetime: 480,
  // A broken merge result must not prevent the engine from starting.
  max_suspicious_broken_parts: 1_000_000,
  max_suspicious_broken_parts_bytes: 1_000_000_000_000,
  non_replicated_deduplication_window: 10_000,
  // An insert writes one file for all columns instead of two synced files per column. The first merge splits them.
  min_level_for_wide_part: 1,
  // More parts in one merge: 40 % fewer rows are merged again than with the default of 5.
  merge_selector_base: 8,
} as const

/** Additional settings of replicated tables. */
export const replicatedSettings = {
  min_compressed_bytes_to_fsync_after_fetch: 1,
  replicated_deduplication_window: 10_000,
} as const

/** The table for inserts. In a cluster it is the local part on the connected node; reads use the table without a suffix. */
export const localTable = (table: string, cluster: string | undefined): string => (cluster === undefined ? table : `${table}_local`)
