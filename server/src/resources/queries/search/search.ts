import type { SearchAsk, SearchResponse } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { sourceDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'
import { budgetOf, selectRangeBytes, ticketOf } from '../../data/event-queries/event-queries.ts'
import { answerSearch, type Search } from './answer.ts'
import { emptyAnswer } from './empty-answer.ts'
import { findPage } from './pages.ts'
import { planSearch } from './plan.ts'
import type { Reply, Searches } from './running.ts'

export { allowGaps, gapWarnings } from './gaps.ts'
export { forgetPages } from './pages.ts'
export { openSearches, type Searches } from './running.ts'

/** PATIENT_FACTOR: an asynchronous search may take so much longer, up to what the store grants at all. */
const PATIENT_FACTOR = 10
const PATIENT_SECONDS_MAX = 600

/** runSearch answers a question about events, or takes it on and says where to ask for the answer. */
export async function runSearch(
  world: World,
  searches: Searches,
  actor: Actor,
  ask: SearchAsk,
  signal: AbortSignal,
): Promise<SearchResponse | Reply> {
  const search = ask.pagination_token
    ? await followPage(world, actor, ask.pagination_token, ask.per_page)
    : await prepare(world, actor, ask)
  if (ask.explain_only && !ask.pagination_token) return explain(world, actor, search)
  if (!ask.async_enabled || ask.pagination_token) return answerSearch(world, actor, search, { signal })
  const budget = budgetOf(world, actor)
  const patient = { ...budget, seconds: Math.min(PATIENT_SECONDS_MAX, budget.seconds * PATIENT_FACTOR) }
  const logIds = search.datasets.map(({ id }) => id)
  // A search that may not even wait is refused before anybody is told where to ask for its answer.
  const place = ticketOf(world, actor).hold()
  return searches
    .start(actor, logIds, emptyAnswer(actor, search.plan), (control) =>
      answerSearch(world, actor, search, { ...control, budget: patient }).finally(place.leave),
    )
    .catch((cause) => {
      place.leave()
      throw cause
    })
}

async function prepare(world: World, actor: Actor, ask: SearchAsk): Promise<Search> {
  const plan = planSearch(ask, world.clock.nowMs())
  return { plan, datasets: await sourceDatasets(world, actor, ask) }
}

/** followPage takes up a search where a page of it ended; datasets that the caller may not see any more are left out. */
async function followPage(world: World, actor: Actor, token: string, perPage: number | undefined): Promise<Search> {
  const page = await findPage(world, actor, token)
  const { from, from_sequence, limit, ...kept } = page.question
  const ask = { ...kept, limit: perPage ?? limit, ...(from_sequence === undefined ? {} : { from_sequence: BigInt(from_sequence) }) }
  const ids = new Set(from)
  const datasets = (await visibleDatasets(world, actor)).filter(({ id }) => ids.has(id))
  return { plan: planSearch(ask, world.clock.nowMs()), datasets, page }
}

/** explain says what a question would read, without asking it. */
async function explain(world: World, actor: Actor, { plan, datasets }: Search): Promise<SearchResponse> {
  const startedMs = world.clock.monotonicMs()
  const bytes = await selectRangeBytes(
    world.events,
    actor.orgNumber,
    datasets.map(({ id }) => id),
    plan.bounds,
  )
  const answer = emptyAnswer(actor, plan)
  answer.explain['Approximate bytes in time range'] = String(bytes)
  answer.explain['Execution time (millis)'] = String(Math.round(world.clock.monotonicMs() - startedMs))
  return { ...answer, is_exact: false }
}
