import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import { branchesOf } from './branches.ts'
import { eachPlan, scopeOf } from './events-statement.ts'
import type { Bounds, Cost, EventsWish, FoundEvent, Question, Source } from './question.ts'
import { eventsOf, keptOf } from './reading.ts'
import { type Asking, costOf, run, startAsking } from './run.ts'
import { joined, name, sql } from './statement.ts'
import { windowsOf } from './windows.ts'

/** LARGE_AT_ONCE datasets with more events than are wanted share a statement, in which each stops by itself. */
const LARGE_AT_ONCE = 50
/** SMALL_EVENTS of datasets with fewer events than are wanted are read by one statement, which need not stop. */
const SMALL_EVENTS = 20_000

/** A Taker is handed the newest events of one dataset, the newest first. */
export type Taker = (logId: string, events: readonly FoundEvent[]) => void

/**
 * readNewestOfEach hands over up to so many of the newest events of every source that has any, whatever the filter of the question. What is handed
 * over is not kept, however many sources there are.
 */
export async function readNewestOfEach(store: EventStore, question: Question, limit: number, take: Taker): Promise<Cost> {
  const asking = startAsking(question)
  const wish: EventsWish = { limit, newestFirst: true, keys: 'all', withRaw: false }
  const counts = await countsOf(store, asking, question)
  const countOf = ({ logId }: Source) => counts.get(logId) ?? 0
  const { small = [], large = [] } = Object.groupBy(
    question.sources.filter((one) => countOf(one) > 0),
    (one) => (countOf(one) <= limit ? 'small' : 'large'),
  )
  for (const sources of inSums(small, countOf)) {
    const all = { ...wish, limit: SMALL_EVENTS + limit }
    await readWindow(store, asking, { sources, branches: branchesOf(sources, []), wish: all, limit, window: question.bounds }, take)
  }
  for (let first = 0; first < large.length; first += LARGE_AT_ONCE) {
    await readLarge(store, asking, { ...question, sources: large.slice(first, first + LARGE_AT_ONCE) }, wish, take)
  }
  return costOf(asking, 1)
}

/** countsOf counts the events of each source in the bounds, which takes little, since nothing but the sort key is read. */
async function countsOf(store: EventStore, asking: Asking, { sources, bounds }: Question): Promise<ReadonlyMap<string, number>> {
  const parts = branchesOf(sources, []).map(
    (branch) =>
      sql`select log_id, count() as counted from ${name(tableClasses[branch.tableClass].table)} where ${scopeOf(branch, bounds)} group by log_id`,
  )
  if (parts.length === 0) return new Map()
  // What is counted here is read again, and must not count twice.
  const rows = await run(
    store,
    { ...asking },
    sql`select toString(log_id), toUInt64(sum(counted)) from (${joined(parts, ' union all ')}) group by log_id`,
  )
  const counts = new Map<string, number>()
  while (!rows.atEnd) counts.set(rows.text(), Number(rows.uint64()))
  return counts
}

/** inSums puts sources together that have SMALL_EVENTS between them. */
function inSums(sources: readonly Source[], countOf: (source: Source) => number): Source[][] {
  const parts: Source[][] = []
  let sum = Number.POSITIVE_INFINITY
  for (const source of sources) {
    sum += countOf(source)
    if (sum > SMALL_EVENTS) {
      parts.push([])
      sum = countOf(source)
    }
    parts.at(-1)?.push(source)
  }
  return parts
}

type Read = { sources: readonly Source[]; branches: ReturnType<typeof branchesOf>; wish: EventsWish; limit: number; window: Bounds }

async function readWindow(store: EventStore, asking: Asking, { sources, branches, wish, limit, window }: Read, take: Taker): Promise<void> {
  const plan = eachPlan(branches, { filter: { kind: 'all' } }, wish, window)
  const found = plan ? await eventsOf(store, asking, plan, wish) : []
  const byLog = Map.groupBy(found, ({ logId }) => logId)
  for (const { logId } of sources) take(logId, (byLog.get(logId) ?? []).sort(newestFirst).slice(0, limit))
}

/** readLarge asks those that have too few events in the newest times for earlier ones. A dataset whose events lie in several tables has them from each. */
async function readLarge(store: EventStore, asking: Asking, question: Question, wish: EventsWish, take: Taker): Promise<void> {
  const found = new Map<string, FoundEvent[]>(question.sources.map(({ logId }) => [logId, []]))
  for (const window of windowsOf(keptOf(question), { newestFirst: true, fewer: true })) {
    const sources = question.sources.filter(({ logId }) => (found.get(logId)?.length ?? 0) < wish.limit)
    const branches = sources.flatMap((source) => branchesOf([source], []))
    await readWindow(store, asking, { sources, branches, wish, limit: wish.limit, window }, (logId, events) =>
      found.get(logId)?.push(...events),
    )
  }
  for (const [logId, events] of found) take(logId, events.sort(newestFirst).slice(0, wish.limit))
}

const newestFirst = (a: FoundEvent, b: FoundEvent): number =>
  a.timeNs === b.timeNs ? (a.seq < b.seq ? 1 : -1) : a.timeNs < b.timeNs ? 1 : -1
