import type { SearchResponse } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { FoundEvents, Question } from '../../../reading/question.ts'
import { countMatching, readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import {
  type Asked,
  countLeftOut,
  dataWarnings,
  groupRows,
  type LeftOut,
  leftOutWarnings,
  noteSearch,
  questionFor,
  readKeys,
  readLevels,
  seriesTree,
  shownEvents,
  sliceRows,
  totalsOf,
  type Wanted,
} from '../../data/event-queries/event-queries.ts'
import { emptyAnswer } from './empty-answer.ts'
import { allowGaps, gapWarnings } from './gaps.ts'
import { type KeptQuestion, linksOf, type Page } from './pages.ts'
import type { EventsPlan, SearchPlan, StatsPlan } from './plan.ts'

/** A Search is a question that is known to be good, with the datasets it reads, and the page of it that is wanted. */
export type Search<P extends SearchPlan = SearchPlan> = {
  readonly plan: P
  readonly datasets: readonly DatasetRow[]
  readonly page?: Page
}

/** A Control is how a search is followed while it runs; without `onPartial` the answer is wanted as a whole only. */
export type Control = Pick<Wanted, 'signal' | 'budget' | 'onProgress'> & { onPartial?: (answer: SearchResponse) => void }

/** COUNT_ROWS_MAX is how many events are looked at to count all that match a page of events; beyond it the answer says that its count is a part. */
const COUNT_ROWS_MAX = 5_000_000

/** answerSearch asks the store. */
export async function answerSearch(world: World, actor: Actor, search: Search, control: Control): Promise<SearchResponse> {
  const startedMs = world.clock.monotonicMs()
  const { plan } = search
  const answer =
    plan.kind === 'events'
      ? await answerEvents(world, actor, { ...search, plan }, control)
      : await answerStats(world, actor, { ...search, plan }, control)
  const took = { datasets: search.datasets, bytes: Number(answer.explain['Bytes searched'] ?? 0), startedMs }
  answer.explain['Execution time (millis)'] = String(noteSearch(world, actor, took))
  return answer
}

async function answerEvents(world: World, actor: Actor, search: Search<EventsPlan>, control: Control): Promise<SearchResponse> {
  const { plan, datasets, page } = search
  const { newestFirst, orderBy, fromSequence, limit } = plan
  const question = allowGaps(world, await questionFor(world, actor, { datasets, filter: plan.filter, bounds: plan.bounds, ...control }))
  const leftOut = page ? nothing : leftOutOf(world, question)
  const rowsMax = control.onPartial ? question.budget.rows : Math.min(question.budget.rows, COUNT_ROWS_MAX)
  const count = () => countMatching(world.events, { ...question, budget: { ...question.budget, rows: rowsMax } })
  // Where every event matches, the page is found at once; a condition would make page and count wait for each other.
  const counting = !page && plan.filter.kind === 'all' ? beside(count()) : undefined
  const found = await readEvents(world.events, question, {
    limit,
    newestFirst,
    ...readKeys(plan.items),
    ...(orderBy ? { orderBy } : {}),
    ...(fromSequence === undefined ? {} : { fromSequence }),
    ...(page?.after ? { after: page.after } : {}),
  })
  const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  const shown = shownEvents(found.events, { items: plan.items, baseUrl: actor.facts.baseUrl, places })
  control.onPartial?.({ ...emptyAnswer(actor, plan), ...shown, totals: { count: found.events.length }, is_exact: false })
  const counted = await countAll(question, found, page, () => counting ?? count())
  const last = found.events.at(-1)
  const more = found.hasMore && last && !orderBy ? { last, question: keptQuestion(search, page, counted) } : undefined
  const links = await linksOf(world, actor, orderBy ? undefined : page, more)
  const next = links.find(({ rel }) => rel === 'next')
  return {
    ...emptyAnswer(actor, warned(plan, question, { count: counted.count, cost: found.cost }, await leftOut)),
    ...shown,
    explain: {
      'Execution time (millis)': '0',
      'Bytes searched': String(found.cost.bytes + counted.bytes),
      'Matching events': String(counted.count),
    },
    totals: { count: counted.count },
    is_exact: counted.isExact && !question.gaps?.found,
    links,
    pagination: next ? { next_page_url: next.href } : {},
  }
}

async function answerStats(world: World, actor: Actor, search: Search<StatsPlan>, control: Control): Promise<SearchResponse> {
  const { plan, datasets } = search
  const { calls, groups, slices, limit, bounds } = plan
  const question = allowGaps(world, await questionFor(world, actor, { datasets, filter: plan.filter, bounds, ...control }))
  const wish = { calls: calls.map(({ call }) => call), groups, slices, limit }
  const leftOut = leftOutOf(world, question)
  const found = await readStats(world.events, question, wish)
  const frame = { calls, bounds, slices, groups }
  const { levels, bytes } = await readLevels(world.events, question, wish, found)
  return {
    ...emptyAnswer(actor, warned(plan, question, { count: found.whole.count, cost: found.cost }, await leftOut)),
    ...(groups.length === 0
      ? { result: sliceRows(found, frame) }
      : { ...groupRows(found, frame), groups_series: seriesTree(levels, frame) }),
    explain: {
      'Execution time (millis)': '0',
      'Bytes searched': String(found.cost.bytes + bytes),
      'Matching events': String(found.whole.count),
    },
    totals: totalsOf(found, frame),
    is_exact: found.isExact && !question.gaps?.found,
  }
}

const nothing: Promise<readonly LeftOut[]> = Promise.resolve([])

/** leftOutOf counts beside the question itself; who does not wait for it to the end hears of no failure. */
function leftOutOf({ events }: World, question: Question): Promise<readonly LeftOut[]> {
  return beside(countLeftOut(events, question, question.filter))
}

/** beside lets work go on that is waited for later, or never. */
function beside<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

/** warned is a plan with what the events themselves say about its filter. */
const warned = <P extends SearchPlan>(
  plan: P,
  { filter, sources, gaps }: Question,
  came: Pick<Asked, 'count' | 'cost'>,
  leftOut: readonly LeftOut[],
): P => ({
  ...plan,
  warnings: [
    ...plan.warnings,
    ...gapWarnings({ gaps }),
    ...dataWarnings({ filter, sources, ...came }),
    ...leftOutWarnings(leftOut, came.count),
  ],
})

type Counted = { count: number; isExact: boolean; bytes: number }

/** countAll counts what matches beyond a page, as far as that costs little: a count must not make the newest events wait. */
async function countAll(
  question: Question,
  found: FoundEvents,
  page: Page | undefined,
  counting: () => ReturnType<typeof countMatching>,
): Promise<Counted> {
  if (page) return { count: page.question.count, isExact: page.question.is_exact, bytes: 0 }
  if (!found.hasMore) return { count: found.events.length, isExact: true, bytes: 0 }
  try {
    const { count, cost } = await counting()
    return { count, isExact: true, bytes: cost.bytes }
  } catch (thrown) {
    question.signal.throwIfAborted()
    if (!(thrown instanceof Failure) || thrown.status >= 500) throw thrown
    return { count: found.events.length + 1, isExact: false, bytes: 0 }
  }
}

function keptQuestion({ plan, datasets }: Search<EventsPlan>, page: Page | undefined, counted: Counted): KeptQuestion {
  if (page) return page.question
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
