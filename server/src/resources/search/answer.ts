import type { SearchResponse } from '@dendro/api'
import { notBuilt } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import type { FoundEvents } from '../../reading/question.ts'
import { readEvents } from '../../reading/reading.ts'
import type { World } from '../../world.ts'
import type { DatasetRow } from '../datasets/rows.ts'
import { emptyAnswer } from './empty-answer.ts'
import { type KeptQuestion, linksOf, type Page } from './pages.ts'
import type { EventsPlan, SearchPlan } from './plan.ts'
import { questionFor, type Wanted } from './question.ts'
import { readKeys, shownEvents } from './shown-event.ts'

/** A Search is a question that is known to be good, with the datasets it reads, and the page of it that is wanted. */
export type Search<P extends SearchPlan = SearchPlan> = {
  readonly plan: P
  readonly datasets: readonly DatasetRow[]
  readonly page?: Page
}

/** A Control is how a search is followed while it runs; without `onPartial` the answer is wanted as a whole only. */
export type Control = Pick<Wanted, 'signal' | 'budget' | 'onProgress'> & { onPartial?: (answer: SearchResponse) => void }

const notYet = () => {
  throw notBuilt('aggregates cannot be asked for yet')
}

/** answerSearch asks the store. */
export async function answerSearch(world: World, actor: Actor, search: Search, control: Control): Promise<SearchResponse> {
  const startedMs = world.clock.monotonicMs()
  const { plan } = search
  const answer = plan.kind === 'events' ? await answerEvents(world, actor, { ...search, plan }, control) : notYet()
  answer.explain['Execution time (millis)'] = String(Math.round(world.clock.monotonicMs() - startedMs))
  return answer
}

async function answerEvents(world: World, actor: Actor, search: Search<EventsPlan>, control: Control): Promise<SearchResponse> {
  const { plan, datasets, page } = search
  const { newestFirst, orderBy, fromSequence, limit } = plan
  const question = await questionFor(world, actor, { datasets, filter: plan.filter, bounds: plan.bounds, ...control })
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
  const counted = await countAll(found, page)
  const last = found.events.at(-1)
  const more = found.hasMore && last && !orderBy ? { last, question: keptQuestion(search, page, counted) } : undefined
  const links = await linksOf(world, actor, orderBy ? undefined : page, more)
  const next = links.find(({ rel }) => rel === 'next')
  return {
    ...emptyAnswer(actor, plan),
    ...shown,
    explain: {
      'Execution time (millis)': '0',
      'Bytes searched': String(found.cost.bytes + counted.bytes),
      'Matching events': String(counted.count),
    },
    totals: { count: counted.count },
    is_exact: counted.isExact,
    links,
    pagination: next ? { next_page_url: next.href } : {},
  }
}

type Counted = { count: number; isExact: boolean; bytes: number }

/** countAll counts what matches beyond a page, as far as that costs little: a count must not make the newest events wait. */
async function countAll(found: FoundEvents, page: Page | undefined): Promise<Counted> {
  if (page) return { count: page.question.count, isExact: page.question.is_exact, bytes: 0 }
  if (!found.hasMore) return { count: found.events.length, isExact: true, bytes: 0 }
  return { count: found.events.length + 1, isExact: false, bytes: 0 }
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
