import type { EventStore } from '../../events/store/events.ts'
import { conditionsIn } from '../../query/conditions.ts'
import { comparesIds } from '../filter/skip-indexes.ts'
import { eventsInFamilies, tablesInFamilies } from '../plan/pattern-families.ts'
import { readWithFacts } from '../plan/prepare.ts'
import { freeTextsIn, keysIn, type TableRead } from '../plan/table-reads.ts'
import type { EventQuery, EventsRequest, EventsResult, FoundEvent, TimeBounds } from '../query.ts'
import { eachRow } from '../run/row-binary.ts'
import { costOf, type QueryRun, run, startQueryRun } from '../run/run.ts'
import { type PagePart, pagePlace } from './event-pages.ts'
import { foundEvent, type RowLayout, type StoredEventRow, storedEvent, storedTableRow } from './event-row.ts'
import { type EventsStatement, eventsStatement } from './events-statement.ts'
import { type SearchedVolume, windowsOf } from './time-windows.ts'

const NS_PER_MS = 1_000_000n
/** Preparing a statement with at most this many conditions takes the store next to no time. */
const CONDITIONS_FEW = 20

/** Returns the events that match a query, in the requested order. Reads no further back than it has to, and no events that are known. */
export async function readEvents(store: EventStore, query: EventQuery, request: EventsRequest): Promise<EventsResult> {
  const queryRun = startQueryRun(query)
  const { limit } = request
  // One extra event shows whether there are more.
  const oneMore = limit + 1
  const place = pagePlace(store, queryRun, query, request)
  const known = place?.find()
  const read = ({ bounds, after }: PagePart, wanted: number) =>
    readPart(store, queryRun, { ...query, bounds }, { ...request, limit: wanted, ...(after ? { after } : {}) }, known !== undefined)
  const { newer, events: between, older } = known ?? { newer: { bounds: query.bounds }, events: [], older: undefined }
  const found = newer ? [...(await read(newer, oneMore))] : []
  found.push(...between.slice(0, oneMore - found.length))
  if (older && found.length <= limit) found.push(...(await read(older, oneMore - found.length)))
  if (!queryRun.gaps?.found) place?.keep(found, found.length <= limit)
  const events = found.slice(0, limit)
  const shown = request.withFamilies ? await eventsInFamilies(store, query, events) : events
  return { events: shown, hasMore: found.length > limit, cost: costOf(queryRun, 1) }
}

/** Reads the events of a range. It may be a part of the range of the query. */
async function readPart(
  store: EventStore,
  queryRun: QueryRun,
  query: EventQuery,
  request: EventsRequest,
  isPart: boolean,
): Promise<readonly FoundEvent[]> {
  const keys = [...keysIn(query.filter), ...(request.orderBy ? [request.orderBy.key] : [])]
  // For a few conditions, reading the overflow maps everywhere is faster than finding out which keys they contain, unless a count does so anyway.
  const isLong = conditionsIn(query.filter).length > CONDITIONS_FEW
  const isCounted = query.sharedFacts !== undefined && !comparesIds(query.filter)
  const overflow = isLong ? 'find' : isCounted ? 'cachedOnly' : 'readEverywhere'
  const wanted = { keys, texts: freeTextsIn(query.filter), overflow, isPart } as const
  return readWithFacts(store, queryRun, query, wanted, (tableReads) =>
    readWindows(store, queryRun, query, request, { tableReads, keys, isLong }),
  )
}

type WindowsRead = { readonly tableReads: readonly TableRead[]; readonly keys: readonly string[]; readonly isLong: boolean }

/** Reads one window after the other until there are enough events. */
async function readWindows(
  store: EventStore,
  queryRun: QueryRun,
  query: EventQuery,
  request: EventsRequest,
  { tableReads, keys, isLong }: WindowsRead,
): Promise<readonly FoundEvent[]> {
  const found: FoundEvent[] = []
  const bounds = fromPosition(withinRetention(query), request)
  const isAlone = query.sources.length < 2
  const windows = request.orderBy
    ? [bounds]
    : windowsOf(bounds, {
        newestFirst: request.newestFirst,
        fewer: keys.includes('@raw') || isAlone,
        few: isLong,
        ...(isAlone ? { inPeriodsOf: query.sources } : volumeOf(tableReads)),
      })
  for (const window of windows) {
    const plan = eventsStatement(
      await tablesInFamilies(store, queryRun, { ...query, bounds: window }, tableReads, keys),
      query,
      { ...request, limit: request.limit - found.length },
      window,
    )
    if (!plan) break
    found.push(...(await eventsOf(store, queryRun, plan, request)))
    if (found.length >= request.limit) break
    query.onProgress?.(costOf(queryRun, shareOf(window, bounds)))
  }
  return found
}

/** What is searched, where it is known: in searches of lines. */
function volumeOf(tableReads: readonly TableRead[]): { volume?: SearchedVolume } {
  const volumes = tableReads.flatMap(({ volume }) => volume ?? [])
  if (volumes.length === 0) return {}
  const events = volumes.reduce((sum, one) => sum + one.events, 0)
  const fromMs = Math.min(...volumes.map(({ bounds }) => bounds.fromMs))
  const toMs = Math.max(...volumes.map(({ bounds }) => bounds.toMs))
  return { volume: { events, bounds: { fromMs, toMs }, periods: tableReads.flatMap(({ periods }) => periods) } }
}

export async function eventsOf(
  store: EventStore,
  queryRun: QueryRun,
  { whole, layouts, hasTableRows }: EventsStatement,
  request: EventsRequest,
): Promise<FoundEvent[]> {
  const rows = await run(store, queryRun, whole)
  const found: FoundEvent[] = []
  const [first] = layouts
  await eachRow(rows, (row) => {
    const stored = first && hasTableRows ? storedTableRow(row, first) : storedEvent(row)
    found.push(foundEvent(stored, layoutOf(layouts, stored), request))
  })
  return found
}

function layoutOf(layouts: readonly RowLayout[], stored: StoredEventRow): RowLayout {
  const layout = layouts[stored.layout]
  if (!layout) throw new Error('the event store returned an event of an unknown table')
  return layout
}

/** Narrows the bounds to the retention of the sources. Empty when no source keeps events of that time. */
export function withinRetention({ sources, bounds: { fromMs, toMs } }: EventQuery): TimeBounds {
  const keptSinceMs = Math.min(...sources.map((source) => source.keptSinceMs ?? fromMs))
  return { fromMs: Math.min(toMs, Math.max(fromMs, keptSinceMs)), toMs }
}

/** Narrows the bounds to where reading continues. */
function fromPosition({ fromMs, toMs }: TimeBounds, { after, newestFirst }: EventsRequest): TimeBounds {
  if (!after) return { fromMs, toMs }
  const atMs = Number(after.timeNs / NS_PER_MS)
  return newestFirst ? { fromMs, toMs: Math.min(toMs, atMs + 1) } : { fromMs: Math.max(fromMs, atMs), toMs }
}

const shareOf = (window: TimeBounds, bounds: TimeBounds): number => (window.toMs - window.fromMs) / (bounds.toMs - bounds.fromMs)
