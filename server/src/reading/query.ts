import type { AggregateCall, Filter, FilterOperator, SortOrder } from '@dendro/language/tree'
import type { EventStore } from '../events/store/events.ts'
import type { DatasetLayout } from '../lines/layout/catalog.ts'
import type { Severity } from '../lines/values/severity.ts'
import type { TimeBounds } from '../query/bounds.ts'
import type { QueryTicket } from '../world.ts'

export type { TimeBounds } from '../query/bounds.ts'

/** One dataset to read, with the location of its events; undefined when it never had any. */
export type QuerySource = {
  readonly logId: string
  readonly collection: string
  readonly dataset: string
  readonly located: DatasetLayout | undefined
  /** Older events are not returned, even if they are still stored. Undefined without a cutoff. */
  readonly keptSinceMs: number | undefined
  /**
   * The only events of the dataset that the reader may see, whatever the filter of the query. All of them without it. Datasets with the same condition
   * have the same object.
   */
  readonly required?: Filter
  /** The part of the answer that its events belong to, in a query that is grouped by `PART_KEY`. */
  readonly part?: string
  /** The families of the patterns that the query may meet; set only for queries on `@pattern`. */
  readonly families?: ReadonlyMap<bigint, bigint>
}

/** Groups events by the parts of their datasets, so that one statement reads what several queries ask. No line has a key of this name. */
export const PART_KEY = '@\0part'

/** A number of events, and the range of their times. */
export type EventVolume = { readonly events: number; readonly bounds: TimeBounds }

/** What is known about the events of a table that a query reads. */
export type TableFacts = {
  /** The shapes of all lines. Undefined when they are unknown or too many. */
  readonly shapes?: readonly string[]
  /** The shapes of all lines that are not JSON, where all shapes are too many. Undefined when these are, too. */
  readonly textShapes?: readonly string[]
  /** How many events there were when the shapes were read, and when; of some of them when these are too many. */
  readonly volume?: EventVolume
  /** The parts of all lines whose shape is in parts. Undefined when they are unknown or too many. */
  readonly parts?: readonly string[]
  /** The free texts of the query that no name of an overflow entry contains, in lines whose shape is in parts. */
  readonly absentFromKeys?: readonly string[]
  /** The queried keys that events have in the overflow map. Undefined when any may be there. */
  readonly overflowKeys?: ReadonlySet<string>
}
/** The facts of the tables of a read, by what they are about. */
export type SharedFacts = Map<string, Promise<readonly TableFacts[]>>

/** How often a pattern was found, and its newest event. */
export type PresentPattern = { readonly count: number; readonly seq: bigint }
/** Found patterns by dataset. */
export type PresentPatterns = ReadonlyMap<string, ReadonlyMap<bigint, PresentPattern>>

/** Knows the families of patterns, by dataset, and decides about patterns that it does not know yet. */
export type PatternFamilies = {
  of(store: EventStore, query: EventQuery, found: PresentPatterns): Promise<ReadonlyMap<string, ReadonlyMap<bigint, bigint>>>
}

/** The limits of one query. Exceeding them is a 4xx that says what to narrow. */
export type QueryBudget = {
  readonly bytes: number
  readonly rows: number
  readonly seconds: number
  readonly memoryBytes: number
  /** What the query may write to the disk of the store to sort and group. */
  readonly spillBytes: number
  /** The maximum number of threads in the store. */
  readonly threads?: number
}

/** What every read of events has in common. The caller may see all sources, but only their required events: reading/ checks no permissions. */
export type EventQuery = {
  readonly orgNumber: number
  readonly sources: readonly QuerySource[]
  readonly filter: Filter
  readonly bounds: TimeBounds
  readonly budget: QueryBudget
  /** Aborting also ends the statement in the store. */
  readonly signal: AbortSignal
  readonly onProgress?: (cost: QueryCost) => void
  /** Set when a partial answer is acceptable while a part of the store is unavailable. The caller then has to report it. */
  readonly gaps?: StoreGaps
  /** The admission of the query. Without one, as in tests of this module, nothing waits. */
  readonly ticket?: QueryTicket
  /** Reads of one request have the same map here. What one finds out about the events, the others need not. */
  readonly sharedFacts?: SharedFacts
  /**
   * Results of its statements may be kept and used again, as long as they hold, and closed slices of statistics that read at least so many events. By
   * default nothing is kept.
   */
  readonly keepsResults?: { readonly slicesFromRows: number }
  /** Without it every pattern stands for itself. */
  readonly families?: PatternFamilies
  /** The range of the patterns that are put into families; by default the bounds. */
  readonly patternBounds?: TimeBounds
}

/** Whether an unavailable part of the store was left out of the answer, and which, where the store knows. */
export type StoreGaps = { found: boolean; shards?: string | undefined }

/** What a read has cost so far. `share` is its progress from 0 to 1. */
export type QueryCost = { readonly rows: number; readonly bytes: number; readonly elapsedMs: number; readonly share: number }

/** A position in the order of events: time, then sequence number. */
export type EventPosition = { readonly timeNs: bigint; readonly seq: bigint }

/** Which matching events to return, in which order, with which keys. */
export type EventsRequest = {
  readonly limit: number
  readonly newestFirst: boolean
  /** Excludes everything up to and including this position, in the direction of reading. */
  readonly after?: EventPosition
  readonly orderBy?: SortOrder
  /** The keys to read; 'all' is every message key and attribute. */
  readonly keys: 'all' | readonly string[]
  readonly withRaw: boolean
  /** Whether to find the family of each event. */
  readonly withFamilies?: boolean
  /** The sequence numbers of the only events that are wanted. */
  readonly numbers?: readonly bigint[]
}

/** An event as it was stored. `leaves` has the texts of message keys by name and of attributes with their `$`. */
export type FoundEvent = EventPosition & {
  readonly logId: string
  readonly severity: Severity
  readonly origin: string
  readonly skeleton: bigint
  /** The family of its pattern. Undefined when it has none or the request did not ask for it. */
  readonly family?: bigint
  readonly raw: Uint8Array | undefined
  readonly leaves: ReadonlyMap<string, string>
}

export type EventsResult = { readonly events: readonly FoundEvent[]; readonly hasMore: boolean; readonly cost: QueryCost }

/** A request for statistics instead of events. `limit` is the number of groups to return, the largest by the first call. */
export type StatsRequest = {
  readonly calls: readonly AggregateCall[]
  readonly groups: readonly string[]
  readonly slices: number
  readonly limit: number
}

export type Quantiles = {
  readonly min: number
  readonly p25: number
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/**
 * The value of one call, null when there was nothing to aggregate. Only `first` and `last` return texts. `exact` is a minimum or maximum
 * that a float cannot represent.
 */
export type StatValue = { readonly value: number | string | null; readonly exact?: bigint; readonly quantiles?: Quantiles }
/** The statistics of one slice, one group or the whole: the number of events, and one value for each call. */
export type StatsRow = { readonly count: number; readonly stats: readonly StatValue[] }

/** One group. A value of null stands for events without the key. */
export type StatsGroup = { readonly values: readonly (string | null)[]; readonly whole: StatsRow; readonly slices: readonly StatsRow[] }

export type StatsResult = {
  readonly whole: StatsRow
  readonly slices: readonly StatsRow[]
  readonly groups: readonly StatsGroup[]
  /** Includes the groups beyond the limit. */
  readonly groupsTotal: number
  readonly isExact: boolean
  readonly cost: QueryCost
}

/** The number of matching events that have each field, by its name. `isCut` means that fields of few events may be missing. */
export type FieldCounts = { readonly counts: ReadonlyMap<string, number>; readonly isCut: boolean; readonly cost: QueryCost }

/** How many events of a group match a filter. */
export type CountCondition = { readonly filter: Filter; readonly operator: FilterOperator; readonly number: number }
/** How far the highest whole number of the key `to` is above the lowest of `from`, in a group of events. */
export type SpreadCondition = { readonly from: string; readonly to: string; readonly operator: FilterOperator; readonly number: number }

/** Conditions on the events with the same value of a key. Groups have an event that matches `newest`, and are ordered by the newest of these. */
export type GroupSearch = {
  readonly key: string
  readonly newest: Filter
  readonly counts: readonly CountCondition[]
  readonly spreads: readonly SpreadCondition[]
  readonly limit: number
}

/** The values of the key. */
export type FoundGroups = { readonly values: readonly string[]; readonly hasMore: boolean; readonly cost: QueryCost }
