import type { SearchResponse } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { EventQuery, EventsResult } from '../../../reading/query.ts'
import { countMatching, readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import {
  buildEventQuery,
  countExcluded,
  dataWarnings,
  type EventQueryRequest,
  type ExcludedEvents,
  exclusionWarnings,
  groupRows,
  nearValues,
  type QueryOutcome,
  readKeys,
  readLevels,
  recordSearch,
  seriesTree,
  shownEvents,
  sliceRows,
  totalsOf,
} from '../../data/event-queries/event-queries.ts'
import { emptyAnswer } from './empty-answer.ts'
import { allowGaps, gapWarnings } from './gaps.ts'
import { linksOf, type SearchPage, type StoredQuery } from './pages.ts'
import type { EventsPlan, SearchPlan, StatsPlan } from './plan.ts'

/** A validated search with its datasets and the requested page. */
export type Search<P extends SearchPlan = SearchPlan> = {
  readonly plan: P
  readonly datasets: readonly DatasetRow[]
  readonly page?: SearchPage
}

/** How a running search is followed; without `onPartial` only the final result is wanted. */
export type Control = Pick<EventQueryRequest, 'signal' | 'budget' | 'onProgress'> & { onPartial?: (answer: SearchResponse) => void }

/** The maximum number of rows scanned to count all matches of a page; beyond it the count is partial. */
const COUNT_ROWS_MAX = 5_000_000

/** Runs the search in the event store. */
export async function answerSearch(world: World, actor: Actor, search: Search, control: Control): Promise<SearchResponse> {
  const startedMs = world.clock.monotonicMs()
  const { plan } = search
  const answer =
    plan.kind === 'events'
      ? await answerEvents(world, actor, { ...search, plan }, control)
      : await answerStats(world, actor, { ...search, plan }, control)
  const took = { datasets: search.datasets, bytes: Number(answer.explain['Bytes searched'] ?? 0), startedMs }
  answer.explain['Execution time (millis)'] = String(recordSearch(world, actor, took))
  return answer
}

async function answerEvents(world: World, actor: Actor, search: Search<EventsPlan>, control: Control): Promise<SearchResponse> {
  const { plan, datasets, page } = search
  const { newestFirst, orderBy, limit } = plan
  const wanted = { datasets, filter: plan.filter, bounds: plan.bounds, ...control }
  // A later page is not counted, so its read has nothing to share.
  const eventQuery = { ...allowGaps(world, await buildEventQuery(world, actor, wanted)), ...(page ? {} : { sharedFacts: new Map() }) }
  const leftOut = page ? nothing : exclusionsOf(world, eventQuery)
  const rowsMax = control.onPartial ? eventQuery.budget.rows : Math.min(eventQuery.budget.rows, COUNT_ROWS_MAX)
  const count = () => countMatching(world.events, { ...eventQuery, budget: { ...eventQuery.budget, rows: rowsMax } })
  // Without a condition the page is found at once; with one, page and count would slow each other down.
  const counting = !page && plan.filter.kind === 'all' ? ignoreRejection(count()) : undefined
  const found = await readEvents(world.events, eventQuery, {
    limit,
    newestFirst,
    ...readKeys(plan.items),
    ...(orderBy ? { orderBy } : {}),
    ...(page?.after ? { after: page.after } : {}),
  })
  const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  const show = () => shownEvents(found.events, { items: plan.items, baseUrl: actor.facts.baseUrl, places })
  const { onPartial } = control
  onPartial?.({ ...emptyAnswer(actor, plan), ...(await show()), totals: { count: found.events.length }, is_exact: false })
  const counted = await countAll(eventQuery, found, page, () => counting ?? count())
  // A count that was not needed holds a place of the caller until it ends.
  await counting?.catch(() => undefined)
  const last = found.events.at(-1)
  const more = found.hasMore && last && !orderBy ? { last, storedQuery: storedQuery(search, page, counted) } : undefined
  const linking = ignoreRejection(linksOf(world, actor, orderBy ? undefined : page, more))
  // While the metadata store keeps the next page.
  const shown = await show()
  const links = await linking
  const next = links.find(({ rel }) => rel === 'next')
  return {
    ...emptyAnswer(actor, await withWarnings(world, plan, eventQuery, { count: counted.count, cost: found.cost, leftOut })),
    ...shown,
    explain: {
      'Execution time (millis)': '0',
      'Bytes searched': String(found.cost.bytes + counted.bytes),
      'Matching events': String(counted.count),
    },
    totals: { count: counted.count },
    is_exact: counted.isExact && !eventQuery.gaps?.found,
    links,
    pagination: next ? { next_page_url: next.href } : {},
  }
}

async function answerStats(world: World, actor: Actor, search: Search<StatsPlan>, control: Control): Promise<SearchResponse> {
  const { plan, datasets } = search
  const { calls, groups, slices, limit, bounds } = plan
  const eventQuery = allowGaps(world, await buildEventQuery(world, actor, { datasets, filter: plan.filter, bounds, ...control }))
  const request = { calls: calls.map(({ call }) => call), groups, slices, limit }
  const leftOut = exclusionsOf(world, eventQuery)
  const found = await readStats(world.events, eventQuery, request)
  const frame = { calls, bounds, slices, groups }
  const { levels, bytes } = await readLevels(world.events, eventQuery, request, found)
  return {
    ...emptyAnswer(actor, await withWarnings(world, plan, eventQuery, { count: found.whole.count, cost: found.cost, leftOut })),
    ...(groups.length === 0
      ? { result: sliceRows(found, frame) }
      : { ...(await groupRows(found, frame)), groups_series: await seriesTree(levels, frame) }),
    explain: {
      'Execution time (millis)': '0',
      'Bytes searched': String(found.cost.bytes + bytes),
      'Matching events': String(found.whole.count),
    },
    totals: totalsOf(found, frame),
    is_exact: found.isExact && !eventQuery.gaps?.found,
  }
}

const nothing: Promise<readonly ExcludedEvents[]> = Promise.resolve([])

/** Counts in parallel to the search; a failure is ignored unless the count is awaited. */
function exclusionsOf({ events }: World, eventQuery: EventQuery): Promise<readonly ExcludedEvents[]> {
  return ignoreRejection(countExcluded(events, eventQuery, eventQuery.filter))
}

/** Prevents an unhandled rejection of work that may never be awaited. */
function ignoreRejection<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

type SearchOutcome = Pick<QueryOutcome, 'count' | 'cost'> & { leftOut: Promise<readonly ExcludedEvents[]> }

/** Adds warnings that depend on the events themselves. Similar values are looked up only when nothing was found. */
async function withWarnings<P extends SearchPlan>(
  { events }: World,
  plan: P,
  eventQuery: EventQuery,
  { count, cost, leftOut }: SearchOutcome,
): Promise<P> {
  const { filter, sources, gaps } = eventQuery
  const warnings = [
    ...plan.warnings,
    ...gapWarnings({ gaps }),
    ...dataWarnings({ filter, sources, count, cost }),
    ...(count === 0 && !gaps?.found ? await nearValues(events, eventQuery) : []),
    ...exclusionWarnings(await leftOut, count),
  ]
  return { ...plan, warnings }
}

type Counted = { count: number; isExact: boolean; bytes: number }

/** Counts matches beyond the page within a small budget: a count must not delay the newest events. */
async function countAll(
  eventQuery: EventQuery,
  found: EventsResult,
  page: SearchPage | undefined,
  counting: () => ReturnType<typeof countMatching>,
): Promise<Counted> {
  if (page) return { count: page.storedQuery.count, isExact: page.storedQuery.is_exact, bytes: 0 }
  if (!found.hasMore) return { count: found.events.length, isExact: true, bytes: 0 }
  try {
    const { count, cost } = await counting()
    return { count, isExact: true, bytes: cost.bytes }
  } catch (thrown) {
    eventQuery.signal.throwIfAborted()
    if (!(thrown instanceof Failure) || thrown.status >= 500) throw thrown
    return { count: found.events.length + 1, isExact: false, bytes: 0 }
  }
}

function storedQuery({ plan, datasets }: Search<EventsPlan>, page: SearchPage | undefined, counted: Counted): StoredQuery {
  if (page) return page.storedQuery
  return {
    from: datasets.map(({ id }) => id),
    where: plan.where,
    select: [...plan.selected],
    limit: plan.limit,
    from_ts: plan.bounds.fromMs,
    to_ts: plan.bounds.toMs,
    most_recent_first: plan.newestFirst,
    ...(plan.fromSequence === undefined ? {} : { from_sequence: String(plan.fromSequence) }),
    count: counted.count,
    is_exact: counted.isExact,
  }
}
