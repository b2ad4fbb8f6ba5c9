import type { contract, Delta, MetricItem, QueryOf, Series, UsageSeries } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import { visibleLogIds } from '../datasets/datasets.ts'
import { largest, readParts, type UsagePart, type UsagePartsRequest, type UsageType, type UsageWorld } from './parts.ts'
import { type DeltaRangeRequest, earlierOf, logSlicesOver, type Period, periodOf, slicesOver } from './period.ts'
import { allOf, deltaOf, type Stat, seriesOf, statText, textSlicesOf, valueIn } from './shown.ts'

export { areApart, readParts } from './parts.ts'
export { logSlicesOver, type Period, periodOf, slicesOver } from './period.ts'
export { type Sliced, type Stat, seriesOf, textSlicesOf } from './shown.ts'

type OrganizationUsageRequest = QueryOf<typeof contract.usage.organization>
type LogsUsageRequest = QueryOf<typeof contract.usage.logs>
type UsersUsageRequest = QueryOf<typeof contract.usage.users>

const BYTES: Stat = { stat: 'SUM', key: 'bytes_total' }
const LATENCY: Stat = { stat: 'AVG', key: 'latency_ms' }

/** The usage of the organization, as far as the caller may see it. */
export async function organizationUsage(world: UsageWorld, actor: Actor, ask: OrganizationUsageRequest): Promise<MetricItem> {
  const nowMs = world.clock.nowMs()
  const { usage_type } = ask
  const period = periodOf(ask, nowMs, { slices: ask.num_of_slices, slicesFor: slicesOver })
  const earlier = comparedWith(period, ask, nowMs)
  const request = { ...periodRequest(period), logIds: await visibleLogIds(world, actor, undefined), isByLog: false }
  const { parts, isExact } = await readParts(world, actor, usage_type, request)
  const whole = allOf(parts)
  return {
    ...headOf(usage_type, BYTES, period.isExact && isExact),
    id: `usage.${usage_type}`,
    group_keys: [],
    logs: [],
    from_tags: [],
    aux: {},
    total_count: whole.count,
    total_value: valueIn(BYTES, whole),
    aggregates: [{ function: statText(BYTES), value: valueIn(BYTES, whole) }],
    series: textSlicesOf(BYTES, period, parts),
    groups_series: [],
    ...(await deltaMember(world, actor, { type: usage_type, stat: BYTES, earlier, request: request, parts })),
  }
}

/** The usage of each dataset, largest first; a comparison covers all of them together. */
export async function logsUsage(world: UsageWorld, actor: Actor, ask: LogsUsageRequest): Promise<UsageSeries> {
  const nowMs = world.clock.nowMs()
  const { usage_type } = ask
  const period = periodOf(ask, nowMs, { slices: ask.num_of_slices, slicesFor: logSlicesOver })
  const earlier = comparedWith(period, ask, nowMs)
  const request = { ...periodRequest(period), logIds: await visibleLogIds(world, actor, ask.from), isByLog: true }
  const sums = await readParts(world, actor, usage_type, { ...request, slices: 1, logsMax: ask.limit })
  const order = [...new Set(sums.parts.map(({ logId }) => logId))]
  const { parts, isExact } = order.length === 0 ? sums : await readParts(world, actor, usage_type, { ...request, logIds: order })
  const byLog = Map.groupBy(parts, ({ logId }) => logId)
  return {
    ...headOf(usage_type, BYTES, period.isExact && isExact),
    groups_series: order.map((name) => seriesOf({ key: 'log_id', name }, BYTES, period, byLog.get(name) ?? [])),
    ...(await deltaMember(world, actor, { type: usage_type, stat: BYTES, earlier, request: request })),
  }
}

/** The searches of the calling user; callers who may read users, and API keys, see those of all. */
export async function usersUsage(world: UsageWorld, actor: Actor, ask: UsersUsageRequest): Promise<UsageSeries> {
  const nowMs = world.clock.nowMs()
  const stat = ask.metric === 'latency' ? LATENCY : BYTES
  const isOfAll = actor.identity.type === 'API_KEY_ID' || hasPermission(actor, 'users_read')
  const identityId = isOfAll ? undefined : actor.identity.id
  const period = periodOf(ask, nowMs, { slices: ask.num_of_slices, slicesFor: slicesOver })
  const earlier = comparedWith(period, ask, nowMs)
  const measure = ask.metric === 'latency' ? ('latency' as const) : ('bytes' as const)
  const request: UsagePartsRequest = {
    ...periodRequest(period),
    logIds: await visibleLogIds(world, actor, undefined),
    isByLog: true,
    identityId,
    measure,
  }
  const all = (await readParts(world, actor, 'search', request)).parts
  const parts = largest(all, ask.limit)
  const head = headOf('search', stat, period.isExact)
  return {
    ...head,
    ...(identityId === undefined ? {} : { filter: `${head.filter} AND user_id = '${identityId}'` }),
    groups_series: isOfAll ? byUser(stat, period, parts) : byLog(stat, period, parts),
    ...(await deltaMember(world, actor, { type: 'search', stat, earlier, request: request, parts: all })),
  }
}

const periodRequest = ({ fromMs, toMs, slices }: Period) => ({ bounds: { fromMs, toMs }, slices })

const headOf = (type: UsageType, { stat, key }: Stat, isExact: boolean) => ({
  name: type,
  filter: `usage_type = '${type}'`,
  stat,
  key,
  is_exact: isExact,
})

const byLog = (stat: Stat, period: Period, parts: readonly UsagePart[]): Series[] =>
  [...Map.groupBy(parts, ({ logId }) => logId)].map(([name, own]) => seriesOf({ key: 'log_id', name }, stat, period, own))

function byUser(stat: Stat, period: Period, parts: readonly UsagePart[]): Series[] {
  const users = [...Map.groupBy(parts, ({ identityId }) => identityId)].map(([name, own]) => ({
    ...seriesOf({ key: 'user_id', name }, stat, period, own),
    groups_series: byLog(stat, period, own),
  }))
  return users.sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1))
}

const comparedWith = (
  bounds: TimeBounds,
  ask: DeltaRangeRequest & { delta?: boolean | undefined },
  nowMs: number,
): TimeBounds | undefined => (ask.delta ? earlierOf(bounds, ask, nowMs) : undefined)

type Compared = { type: UsageType; stat: Stat; earlier: TimeBounds | undefined; request: UsagePartsRequest; parts?: readonly UsagePart[] }

async function deltaMember(world: UsageWorld, actor: Actor, { type, stat, earlier, request, parts }: Compared): Promise<{ delta?: Delta }> {
  if (!earlier) return {}
  const whole = { ...request, slices: 1, isByLog: false }
  const now = parts ?? (await readParts(world, actor, type, whole)).parts
  const before = await readParts(world, actor, type, { ...whole, bounds: earlier })
  return { delta: deltaOf(stat, earlier, allOf(now), allOf(before.parts)) }
}
