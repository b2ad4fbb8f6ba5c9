import type { SearchRequest, SearchResponse } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { parseAll } from '../../../query/parse-all.ts'
import type { World } from '../../../world.ts'
import { datasetSelectionOf, selectedDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'
import { budgetOf, rangeBytes, ticketOf } from '../../data/event-queries/event-queries.ts'
import { answerSearch, type Search } from './answer.ts'
import { emptyAnswer } from './empty-answer.ts'
import { findPage } from './pages.ts'
import { planSearch } from './plan.ts'
import type { Searches, SearchReply } from './running.ts'

export { allowGaps, gapWarnings } from './gaps.ts'
export { forgetPages } from './pages.ts'
export { openSearches, type Searches } from './running.ts'

/** Asynchronous searches get a larger time budget, up to the maximum of the store. */
const PATIENT_FACTOR = 10
const PATIENT_SECONDS_MAX = 600

/** Runs a search, or starts it asynchronously and returns the address to poll. */
export async function runSearch(
  world: World,
  searches: Searches,
  actor: Actor,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResponse | SearchReply> {
  const search = request.pagination_token
    ? await followPage(world, actor, request.pagination_token, request.per_page)
    : await prepare(world, actor, request)
  if (request.explain_only && !request.pagination_token) return explain(world, actor, search)
  if (!request.async_enabled || request.pagination_token) return answerSearch(world, actor, search, { signal })
  const budget = budgetOf(world, actor)
  const patient = { ...budget, seconds: Math.min(PATIENT_SECONDS_MAX, budget.seconds * PATIENT_FACTOR) }
  // Reject a search that cannot be admitted before returning a polling address.
  const place = ticketOf(world, actor).hold()
  return searches
    .start(actor, search.datasets, emptyAnswer(actor, search.plan), (control) =>
      answerSearch(world, actor, search, { ...control, budget: patient }).finally(place.leave),
    )
    .catch((cause) => {
      place.leave()
      throw cause
    })
}

async function prepare(world: World, actor: Actor, request: SearchRequest): Promise<Search> {
  const { plan, choose } = parseAll({
    plan: () => planSearch(request, world.clock.nowMs()),
    choose: () => datasetSelectionOf(request),
  })
  return { plan, datasets: await selectedDatasets(world, actor, choose) }
}

/** Continues a search at a page; datasets that the caller may no longer see are omitted. */
async function followPage(world: World, actor: Actor, token: string, perPage: number | undefined): Promise<Search> {
  const page = await findPage(world, actor, token)
  const { from, from_sequence, limit, ...kept } = page.storedQuery
  const request = { ...kept, limit: perPage ?? limit, ...(from_sequence === undefined ? {} : { from_sequence: BigInt(from_sequence) }) }
  const ids = new Set(from)
  const datasets = (await visibleDatasets(world, actor)).filter(({ id }) => ids.has(id))
  return { plan: planSearch(request, world.clock.nowMs()), datasets, page }
}

/** Estimates what a search would read, without running it. */
async function explain(world: World, actor: Actor, { plan, datasets }: Search): Promise<SearchResponse> {
  const startedMs = world.clock.monotonicMs()
  const bytes = await rangeBytes(world, actor, datasets, plan.bounds)
  const answer = emptyAnswer(actor, plan)
  answer.explain['Approximate bytes in time range'] = String(bytes)
  answer.explain['Execution time (millis)'] = String(Math.round(world.clock.monotonicMs() - startedMs))
  return { ...answer, is_exact: false }
}
