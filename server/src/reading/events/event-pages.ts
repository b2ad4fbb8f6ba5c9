import type { EventStore } from '../../events/store/events.ts'
import type { CacheKind } from '../../events/store/range-cache.ts'
import { cacheKey } from '../../events/store/shared-values.ts'
import { storedNs } from '../fields/comparisons.ts'
import { keysIn } from '../plan/table-reads.ts'
import type { EventPosition, EventQuery, EventsRequest, FoundEvent, TimeBounds } from '../query.ts'
import { isWithinBudget, type QueryRun } from '../run/run.ts'

/** A part of a page that is read from the store. */
export type PagePart = { readonly bounds: TimeBounds; readonly after?: EventPosition }

/** The events of a page that are known, and what else has to be read: newer events, and older ones if there are too few. */
export type KnownEvents = {
  readonly events: readonly FoundEvent[]
  readonly newer: PagePart | undefined
  readonly older: PagePart | undefined
}

/** The newest events of one query. */
export type PagePlace = {
  /** The known events, if any have not changed since they were read. */
  find(): KnownEvents | undefined
  /** Keeps what was found, the newest first: all events of the range, or the newest of more. */
  keep(found: readonly FoundEvent[], hasAll: boolean): void
}

/** The newest events of a range that match. `oldest` is the position of the last one when there are more in the range. */
type Page = {
  readonly events: readonly FoundEvent[]
  readonly oldest: EventPosition | undefined
  /** What was read when nothing was known. */
  readonly cost: { readonly readRows: number; readonly readBytes: number }
}

/** A larger page would push out too many others. */
const PAGE_BYTES_MAX = 2 ** 20
/** The memory of an event and a value besides their texts, about. */
const EVENT_BYTES = 320
const VALUE_BYTES = 96
const NS_PER_MS = 1_000_000n
const PAGES: CacheKind<Page> = { name: 'page', extentsMax: 1, bytesMax: PAGE_BYTES_MAX, bytesOf: ({ events }) => bytesOf(events) }

/**
 * Where the newest events of a query are kept, whatever its range: a search that is sent again a little later reads only what is new. Undefined for
 * pages that are not kept. Which pattern an event belongs to changes with the patterns that arrive.
 */
export function pagePlace({ caches }: EventStore, queryRun: QueryRun, query: EventQuery, request: EventsRequest): PagePlace | undefined {
  const { scope } = queryRun
  const { limit, newestFirst, keys, withRaw, after, orderBy, numbers } = request
  const isPlain = newestFirst && !after && !orderBy && !numbers
  if (!scope || !caches.isExact || !isPlain || keysIn(query.filter).includes('@pattern')) return undefined
  const { filter, sources, bounds } = query
  const pages = caches.of(PAGES)
  const key = cacheKey([
    limit,
    keys,
    withRaw,
    filter,
    sources.map(({ logId, collection, dataset, required }) => [logId, collection, dataset, required]),
  ])
  const starts = new Map(sources.map(({ logId, keptSinceMs }) => [logId, Math.max(bounds.fromMs, keptSinceMs ?? bounds.fromMs)]))
  const firstMs = Math.min(...starts.values())
  // No source lacks events from here on because it does not keep them.
  const lastMs = Math.max(...starts.values())
  const since = caches.now()
  let charged: Page['cost'] | undefined
  return {
    find: () => {
      const [extent] = pages.find(scope, key, { fromMs: firstMs, toMs: bounds.toMs })
      if (!extent) return undefined
      const { value: page, heldUntilMs: toMs } = extent
      const newer = toMs < bounds.toMs ? { bounds: { fromMs: toMs, toMs: bounds.toMs } } : undefined
      // Known events cost as much as if they were read now, so that limits and costs do not depend on what others have read.
      if (!isWithinBudget(queryRun, page.cost)) return undefined
      charged = page.cost
      queryRun.rows += charged.readRows
      queryRun.bytes += charged.readBytes
      return {
        events: page.events.filter(({ timeNs, logId }) => timeNs < storedNs(toMs) && timeNs >= storedNs(starts.get(logId) ?? firstMs)),
        newer,
        older: olderPart(page.oldest, extent.range.fromMs, firstMs),
      }
    },
    keep: (found, hasAll) => {
      const events = found.filter(({ timeNs }) => timeNs >= storedNs(lastMs))
      const oldest = hasAll || events.length < found.length ? undefined : events.at(-1)
      const cost = charged ?? { readRows: queryRun.rows, readBytes: queryRun.bytes }
      const range = { fromMs: oldest ? msOf(oldest) : lastMs, toMs: bounds.toMs }
      pages.put(scope, key, [{ range, since, value: { events, oldest, cost } }])
    },
  }
}

/** What a page lacks of a range that begins earlier, or that has more events than the page. */
function olderPart(oldest: EventPosition | undefined, fromMs: number, firstMs: number): PagePart | undefined {
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
