import type { EventStore } from '../../events/store/events.ts'
import { storedNs } from '../filter/comparisons.ts'
import { keysIn } from '../plan/table-reads.ts'
import type { EventPosition, EventQuery, EventsRequest, FoundEvent, TimeBounds } from '../query.ts'
import { isWithinBudget, type QueryRun } from '../run/run.ts'
import { KeptValues, keptName } from './shared-values.ts'

/** A part of a page that is read from the store. */
export type PagePart = { readonly bounds: TimeBounds; readonly after?: EventPosition }

/** The events of a page that are known, and what else has to be read: newer events, and older ones if there are too few. */
export type KnownEvents = {
  readonly events: readonly FoundEvent[]
  readonly newer: PagePart | undefined
  readonly older: PagePart | undefined
}

/** The newest events of one query. */
export type KeptPage = {
  /** The known events, if any have not changed since they were read. */
  find(): KnownEvents | undefined
  /** Keeps what was found, the newest first: all events of the range, or the newest of more. */
  keep(found: readonly FoundEvent[], hasAll: boolean): void
}

/**
 * The newest events of a range that match. `oldest` is the position of the last one when there are more in the range, `fromMs` the time since which no
 * source lacks events that it does not keep.
 */
type Page = {
  readonly events: readonly FoundEvent[]
  readonly fromMs: number
  readonly toMs: number
  readonly oldest: EventPosition | undefined
  readonly since: number
  /** What was read when nothing was known. */
  readonly cost: { readonly readRows: number; readonly readBytes: number }
}

const PAGES_BYTES_MAX = 8 * 2 ** 20
/** A larger page would push out too many others. */
const PAGE_BYTES_MAX = 2 ** 20
/** The memory of a page, an event and a value besides their texts, about. */
const PAGE_BYTES = 512
const EVENT_BYTES = 320
const VALUE_BYTES = 96
const NS_PER_MS = 1_000_000n

const pagesOf = new WeakMap<EventStore, KeptValues<Page>>()

/**
 * Where the newest events of a query are kept, whatever its range: a search that is sent again a little later reads only what is new. Undefined for
 * pages that are not kept. Which pattern an event belongs to changes with the patterns that arrive.
 */
export function keptPageOf(store: EventStore, queryRun: QueryRun, query: EventQuery, request: EventsRequest): KeptPage | undefined {
  const { changes } = store
  const { scope } = queryRun
  const { limit, newestFirst, keys, withRaw, after, fromSequence, orderBy, numbers } = request
  const isPlain = newestFirst && !after && fromSequence === undefined && !orderBy && !numbers
  if (!scope || !changes || !isPlain || keysIn(query.filter).includes('@pattern')) return undefined
  const { orgNumber, filter, sources, bounds } = query
  const pages = pagesOf.get(store) ?? new KeptValues<Page>(PAGES_BYTES_MAX)
  pagesOf.set(store, pages)
  const name = keptName([limit, keys, withRaw, filter, sources.map(({ logId, collection, dataset }) => [logId, collection, dataset])])
  const starts = new Map(sources.map(({ logId, keptSinceMs }) => [logId, Math.max(bounds.fromMs, keptSinceMs ?? bounds.fromMs)]))
  const firstMs = Math.min(...starts.values())
  const lastMs = Math.max(...starts.values())
  const since = changes.now()
  let charged: Page['cost'] | undefined
  return {
    find: () => {
      const page = pages.get(orgNumber, name)
      if (!page) return undefined
      const fromMs = Math.max(firstMs, page.oldest ? msOf(page.oldest) : page.fromMs)
      const range = { fromMs, toMs: Math.min(bounds.toMs, page.toMs) }
      const toMs = range.fromMs < range.toMs ? changes.unchangedUntilMs(scope.logIds, range, page.since) : range.fromMs
      if (toMs <= fromMs) return undefined
      const newer = toMs < bounds.toMs ? { bounds: { fromMs: toMs, toMs: bounds.toMs } } : undefined
      // Known events cost as much as if they were read now, so that limits and costs do not depend on what others have read.
      if (!isWithinBudget(queryRun, page.cost)) return undefined
      charged = page.cost
      queryRun.rows += charged.readRows
      queryRun.bytes += charged.readBytes
      return {
        events: page.events.filter(({ timeNs, logId }) => timeNs < storedNs(toMs) && timeNs >= storedNs(starts.get(logId) ?? fromMs)),
        newer,
        older: olderPart(page, firstMs),
      }
    },
    keep: (found, hasAll) => {
      const kept = found.filter(({ timeNs }) => timeNs >= storedNs(lastMs))
      const oldest = hasAll || kept.length < found.length ? undefined : kept.at(-1)
      const bytes = PAGE_BYTES + name.length + bytesOf(kept)
      if (bytes > PAGE_BYTES_MAX) pages.delete(orgNumber, name)
      else {
        const cost = charged ?? { readRows: queryRun.rows, readBytes: queryRun.bytes }
        pages.set(orgNumber, name, { events: kept, fromMs: lastMs, toMs: bounds.toMs, oldest, since, cost }, bytes)
      }
    },
  }
}

/** What a page lacks of a range that begins earlier, or that has more events than the page. */
function olderPart({ oldest, fromMs }: Page, firstMs: number): PagePart | undefined {
  const toMs = oldest ? msOf(oldest) + 1 : fromMs
  if (toMs <= firstMs) return undefined
  return { bounds: { fromMs: firstMs, toMs }, ...(oldest ? { after: oldest } : {}) }
}

const msOf = ({ timeNs }: EventPosition): number => Number(timeNs / NS_PER_MS)

/** Stops counting beyond what a page may have. */
function bytesOf(events: readonly FoundEvent[]): number {
  let bytes = 0
  for (const { raw, leaves, origin } of events) {
    bytes += EVENT_BYTES + origin.length + (raw?.length ?? 0)
    for (const [, text] of leaves) bytes += VALUE_BYTES + text.length
    if (bytes > PAGE_BYTES_MAX) break
  }
  return bytes
}
