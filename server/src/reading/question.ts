import type { Call, Filter, Order } from '@dendro/language/tree'
import type { Located } from '../lines/catalog.ts'
import type { Severity } from '../lines/severity.ts'
import type { Bounds } from '../query/bounds.ts'
import type { QueryTicket } from '../world.ts'

export type { Bounds } from '../query/bounds.ts'

/** A Source is one dataset to read and where its events lie; undefined when it never had one. */
export type Source = {
  readonly logId: string
  readonly collection: string
  readonly dataset: string
  readonly located: Located | undefined
  /** keptSinceMs is the time before which events are not found, though they may still be stored; undefined when none are too old. */
  readonly keptSinceMs: number | undefined
}

/** A Budget is what one question may cost; going over it is a 4xx that says what to narrow. */
export type Budget = {
  readonly bytes: number
  readonly rows: number
  readonly seconds: number
  readonly memoryBytes: number
  /** threads bounds how much of the store's processors the question may have at once. */
  readonly threads?: number
}

/** A Question is what every read of events has in common. Sources are those that the caller may see: nothing is checked below here. */
export type Question = {
  readonly orgNumber: number
  readonly sources: readonly Source[]
  readonly filter: Filter
  readonly bounds: Bounds
  readonly budget: Budget
  /** signal ends the read in the store too. */
  readonly signal: AbortSignal
  readonly onProgress?: (cost: Cost) => void
  /** gaps is there when the answer may lack what lies in a part of the store that is away; whoever puts the question then says so. */
  readonly gaps?: Gaps
  /** ticket is the query's place among others; without one, as in tests of this module, nothing is waited for. */
  readonly ticket?: QueryTicket
}

/** Gaps tell, once a question is answered, whether a part of the store was left out. */
export type Gaps = { found: boolean }

/** A Cost is what a read has taken so far; `share` is its progress from 0 to 1. */
export type Cost = { readonly rows: number; readonly bytes: number; readonly elapsedMs: number; readonly share: number }

/** A Position is a place in the order of events: time, then sequence. */
export type Position = { readonly timeNs: bigint; readonly seq: bigint }

/** An EventsWish is which matching events are wanted, in which order, with which keys. */
export type EventsWish = {
  readonly limit: number
  readonly newestFirst: boolean
  /** after leaves out everything up to and including this position, in the direction of reading. */
  readonly after?: Position
  /** fromSequence begins within the first millisecond of the bounds, at this number, inclusive. */
  readonly fromSequence?: bigint
  readonly orderBy?: Order
  /** keys are the names that are read; 'all' is every message key and attribute. */
  readonly keys: 'all' | readonly string[]
  readonly withRaw: boolean
  /** numbers are the sequence numbers of the only events that are wanted. */
  readonly numbers?: readonly bigint[]
}

/** A FoundEvent is an event as it was stored. `leaves` has message keys by name and attributes with their $, each as its text. */
export type FoundEvent = Position & {
  readonly logId: string
  readonly severity: Severity
  readonly origin: string
  readonly skeleton: bigint
  readonly raw: Uint8Array | undefined
  readonly leaves: ReadonlyMap<string, string>
}

export type FoundEvents = { readonly events: readonly FoundEvent[]; readonly hasMore: boolean; readonly cost: Cost }

/** A StatsWish asks for numbers instead of events; `limit` is how many groups come back, the largest by the first call. */
export type StatsWish = {
  readonly calls: readonly Call[]
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
 * A Stat is the value of one call, null when nothing could be counted; texts come from `first` and `last` only. `exact` is a smallest or largest
 * value that a float is not exact about.
 */
export type Stat = { readonly value: number | string | null; readonly exact?: bigint; readonly quantiles?: Quantiles }
/** A Measured is one slice, one group or the whole: how many events, and one stat for each call. */
export type Measured = { readonly count: number; readonly stats: readonly Stat[] }

/** A FoundGroup is one group; a value of null stands for events that lack the key. */
export type FoundGroup = { readonly values: readonly (string | null)[]; readonly whole: Measured; readonly slices: readonly Measured[] }

export type FoundStats = {
  readonly whole: Measured
  readonly slices: readonly Measured[]
  readonly groups: readonly FoundGroup[]
  /** groupsTotal counts also the groups beyond the limit. */
  readonly groupsTotal: number
  readonly isExact: boolean
  readonly cost: Cost
}
