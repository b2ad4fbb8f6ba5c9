import type { BodyOf, contract, Identity, PolicyPreview } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import { countMatching } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { callerOf } from '../../access/auth/auth.ts'
import type { RequiredEvents, Viewer } from '../../access/policies/policies.ts'
import { namedBy, seenEventsFor, viewWith } from '../../access/policies/policies.ts'
import { type DatasetRow, visibleDatasets } from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, and, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'

type PreviewRequest = BodyOf<typeof contract.policies.preview>

const RANGE = 'last 1 day'

/** Counts the events that a principal would see with a policy, among those that the caller sees. */
export async function previewPolicy(world: World, actor: Actor, request: PreviewRequest, signal: AbortSignal): Promise<PolicyPreview> {
  if (!hasPermission(actor, 'search_read')) throw forbidden('the preview counts events, which needs the permission search_read')
  const { time_range, from_ts, to_ts, policy_id, ...draft } = request
  const bounds = boundsOf({ time_range, from_ts, to_ts }, world.clock.nowMs(), RANGE)
  const view = await viewWith(world, actor.orgId, draft, await viewerOf(world, actor, draft.principal), policy_id)
  const datasets = (await visibleDatasets(world, actor)).filter(namedBy(draft))
  const own = await seenEventsFor(world, actor)
  const startedMs = world.clock.monotonicMs()
  const count = async (some: readonly DatasetRow[], seen: RequiredEvents | undefined) => {
    if (some.length === 0) return { count: 0, bytes: 0 }
    const wanted = { datasets: some, filter: ALL_EVENTS, bounds, signal, ...(seen ? { seen } : {}) }
    const { count, cost } = await countMatching(world.events, await buildEventQuery(world, actor, wanted))
    return { count, bytes: cost.bytes }
  }
  const events = await count(datasets, own)
  const shown = await count(datasets.filter(view.sees), bothOf(own, view.seen))
  recordSearch(world, actor, { datasets, bytes: events.bytes + shown.bytes, startedMs })
  return { datasets: datasets.length, events: events.count, shown: shown.count }
}

/** The principal of a policy with the roles that they have now. */
async function viewerOf(world: World, { orgId }: Actor, { principal_type, principal_id }: PreviewRequest['principal']): Promise<Viewer> {
  if (principal_type === 'ROLE') return { type: 'USER', id: '', roles: [principal_id] }
  const identity: Identity = { type: principal_type === 'USER' ? 'USER_ID' : 'API_KEY_ID', id: principal_id.toLowerCase() }
  const roles = (await callerOf(world, orgId, identity))?.roles ?? []
  return { type: principal_type, id: identity.id, roles }
}

/** Joins two views. Datasets with the same conditions get the same filter. */
function bothOf(one: RequiredEvents | undefined, other: RequiredEvents | undefined): RequiredEvents | undefined {
  if (!one || !other) return one ?? other
  const known = new Map<Filter, Map<Filter, Filter>>()
  return (place) => {
    const [first, second] = [one(place), other(place)]
    if (!first || !second) return first ?? second
    const joined = known.get(first) ?? new Map<Filter, Filter>()
    const both = joined.get(second) ?? and(first, second)
    known.set(first, joined.set(second, both))
    return both
  }
}
