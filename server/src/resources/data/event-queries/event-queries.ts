import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badRequest } from '../../../kernel/errors.ts'
import type { EventQuery, QueryBudget, QueryCost, QuerySource, TimeBounds } from '../../../reading/query.ts'
import type { QueryClass, QueryTicket, World } from '../../../world.ts'
import type { RequiredEvents } from '../../access/policies/policies.ts'
import { seenEventsFor } from '../../access/policies/policies.ts'
import { limitOfRoles } from '../../access/roles/roles.ts'
import { locateAll } from '../catalog/catalog.ts'
import type { DatasetRow } from '../datasets/datasets.ts'
import { patternFamilies } from '../pattern-families/pattern-families.ts'
import { retentionCutoffs } from '../retention/retention.ts'

export { dataWarnings, type QueryOutcome } from './data-warnings.ts'
export { ALL_EVENTS, and } from './filters.ts'
export { readLevels } from './group-levels.ts'
export { countExcluded, type ExcludedEvents, exclusionWarnings } from './left-out.ts'
export { nearValues } from './near-values.ts'
export { presentKeys } from './present-keys.ts'
export { rangeBytes } from './range-bytes.ts'
export { recordSearch } from './record-search.ts'
export { isSampled, WEIGHT_KEY } from './sampled-events.ts'
export { rawText, readKeys, SELECT_ALL, shownEvents, showOne, statusOf } from './shown-event.ts'
export { type CallItem, groupRows, seriesTree, sliceRows, totalsOf } from './shown-stats.ts'
export { eventTimeText, sliceTimeText } from './shown-time.ts'

export type EventQueryRequest = {
  readonly datasets: readonly Pick<DatasetRow, 'id' | 'collection' | 'dataset' | 'retention'>[]
  readonly filter: Filter
  readonly bounds: TimeBounds
  readonly signal: AbortSignal
  readonly budget?: QueryBudget
  readonly onProgress?: (cost: QueryCost) => void
  /** The only events of each dataset to read; by default those that policies show to the actor. */
  readonly seen?: RequiredEvents
  /** The reader for whom events are read; the caller by default. */
  readonly reader?: Exclude<QueryClass, 'caller'>
}

/** The maximum number of datasets in one query. */
const DATASETS_MAX = 100_000
/** Counting fewer events takes about as long as reading kept slices and the rest. */
const SLICES_FROM_ROWS = 300_000

/** Builds a query to the store for an actor, within the actor's budget; the datasets must be visible to the actor. */
export async function buildEventQuery(
  world: Pick<World, 'meta' | 'deployment' | 'clock' | 'admission'>,
  actor: Actor,
  wanted: EventQueryRequest,
): Promise<EventQuery> {
  const { datasets, filter, bounds, signal, onProgress, reader } = wanted
  if (datasets.length > DATASETS_MAX) {
    throw badRequest(`${datasets.length} datasets matched; one query reads at most ${DATASETS_MAX}, so narrow from or from_expr`)
  }
  const keptSinceMs = await retentionCutoffs(world, actor.orgId)
  const ids = datasets.map(({ id }) => id)
  const located = await locateAll(world, actor.orgId, ids)
  const seen = wanted.seen ?? (await seenEventsFor(world, actor))
  const sources = datasets.map((dataset, at): QuerySource => {
    const required = seen?.(dataset)
    return {
      logId: dataset.id,
      collection: dataset.collection,
      dataset: dataset.dataset,
      located: located[at],
      keptSinceMs: keptSinceMs(dataset),
      ...(required ? { required } : {}),
    }
  })
  const budget = wanted.budget ?? budgetOf(world, actor)
  const ticket = reader ? ticketOfService(world, actor, reader) : ticketOf(world, actor)
  const families = patternFamilies(world.meta, actor.orgId)
  // Exports and tails read events once.
  const isRepeated = reader === undefined || reader === 'monitor'
  return {
    orgNumber: actor.orgNumber,
    sources,
    filter,
    bounds,
    budget,
    signal,
    ticket,
    families,
    ...(isRepeated ? { keepsResults: { slicesFromRows: SLICES_FROM_ROWS } } : {}),
    ...(onProgress ? { onProgress } : {}),
  }
}

/** The budget of one query of an actor: the largest that any of their roles permits, and for an API key not more than its own. */
export function budgetOf(
  { deployment }: Pick<World, 'deployment'>,
  { roles, queryBudget = {} }: Pick<Actor, 'roles' | 'queryBudget'>,
): QueryBudget {
  const { queryLimits } = deployment
  const { memoryBytes, spillBytes } = queryLimits
  const limit = (name: 'bytes' | 'rows' | 'seconds') =>
    Math.min(limitOfRoles(queryLimits[name], roles), queryBudget[name] ?? Number.POSITIVE_INFINITY)
  return { bytes: limit('bytes'), rows: limit('rows'), seconds: limit('seconds'), memoryBytes, spillBytes }
}

/** serviceBudget is for reads that serve many callers at once: what a caller without a role's own bounds has. */
export const serviceBudget = (world: Pick<World, 'deployment'>): QueryBudget => budgetOf(world, { roles: [] })

const PAGE_SECONDS = 600

/** pageBudget is for reads of all matching events, page by page, however rare these are. The other threads of the store stay available for searches. */
export function pageBudget({ deployment }: Pick<World, 'deployment'>): QueryBudget {
  const { memoryBytes, spillBytes } = deployment.queryLimits
  return { bytes: Number.MAX_SAFE_INTEGER, rows: Number.MAX_SAFE_INTEGER, seconds: PAGE_SECONDS, memoryBytes, spillBytes, threads: 1 }
}

const tickets = new WeakMap<Actor['facts'], QueryTicket>()

/** The admission ticket of a request. However many statements the request runs, it counts as one query of its credential. */
export function ticketOf({ admission, deployment }: Pick<World, 'admission' | 'deployment'>, actor: Actor): QueryTicket {
  const known = tickets.get(actor.facts)
  if (known) return known
  const { runningPerCredential, waitingPerCredential } = deployment.queryBounds
  const { running = Number.POSITIVE_INFINITY, waiting = Number.POSITIVE_INFINITY } = actor.queryBudget ?? {}
  const ticket = admission.ticket({
    class: 'caller',
    orgId: actor.orgId,
    credential: actor.identity.id,
    running: Math.min(running, limitOfRoles(runningPerCredential, actor.roles)),
    waiting: Math.min(waiting, limitOfRoles(waitingPerCredential, actor.roles)),
  })
  tickets.set(actor.facts, ticket)
  return ticket
}

/** The ticket of reads by the service itself; only the limits of its lane apply. */
const ticketOfService = ({ admission }: Pick<World, 'admission'>, { orgId }: Actor, reader: QueryClass): QueryTicket =>
  admission.ticket({ class: reader, orgId, credential: reader, running: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY })
