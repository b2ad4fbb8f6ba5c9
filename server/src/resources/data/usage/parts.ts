import { type LedgerSpan, readFlushed, selectIngested } from '../../../events/ledger/reads.ts'
import { unitAt } from '../../../events/ledger/rollup.ts'
import type { Actor } from '../../../http/actor.ts'
import { sliceStartMs } from '../../../query/slices.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { isRecountPending } from '../ledger/ledger.ts'
import { selectUsage } from './rows.ts'
import type { Sliced } from './shown.ts'

export type UsageType = 'ingestion' | 'search' | 'export'
export type UsageWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'meta' | 'usage'>

/** The usage of one dataset, and for searches of one identity, in one slice. */
export type UsagePart = Sliced & { logId: string; identityId: string }
export type UsageParts = { parts: readonly UsagePart[]; isExact: boolean }

export type UsagePartsRequest = {
  bounds: TimeBounds
  slices: number
  /** Restricts to these datasets; undefined means all. */
  logIds: readonly string[] | undefined
  /** If set, returns only the sums of the datasets with the highest usage. */
  logsMax?: number
  isByLog: boolean
  identityId?: string | undefined
  measure?: 'bytes' | 'latency'
}

/** Reads usage: ingestion from the ledger, the rest from the counters. */
export async function readParts(world: UsageWorld, actor: Actor, type: UsageType, request: UsagePartsRequest): Promise<UsageParts> {
  const { bounds, slices, logIds, logsMax, isByLog, identityId, measure = 'bytes' } = request
  if (bounds.toMs <= bounds.fromMs) return { parts: [], isExact: true }
  if (type !== 'ingestion') {
    await world.usage.flush()
    const found = await selectUsage(world.meta, { orgId: actor.orgId, kind: type, ...bounds, slices, measure, logIds, identityId })
    const parts = found.map(({ slice, log_id, identity_id, count, sum }) => ({ slice, logId: log_id, identityId: identity_id, count, sum }))
    return { parts: logsMax === undefined ? parts : largest(parts, logsMax), isExact: true }
  }
  const span: LedgerSpan = { orgNumber: actor.orgNumber, ...bounds, isOpen: bounds.toMs >= world.clock.nowMs(), logIds }
  // Before the sums: a recount that ends in between must not make sums from before it look exact.
  const isPending = await isRecountPending(world, bounds.toMs)
  const rows = await readFlushed(world.ledger, () => selectIngested(world.events, span, { slices, isByLog, logsMax }))
  return {
    parts: rows.map(({ slice, logId, events, bytes }) => ({ slice, logId, identityId: '', count: events, sum: bytes })),
    isExact: !isPending && rows.every(({ recounted }) => recounted === 0) && areApart(bounds, slices, world.clock.nowMs()),
  }
}

/** True if the resolution of the ledger still separates the slices. */
export function areApart(bounds: TimeBounds, slices: number, nowMs: number): boolean {
  const starts = Array.from({ length: slices + 1 }, (_, index) => sliceStartMs(bounds, slices, index))
  return starts.every((startMs) => startMs % unitAt(startMs, nowMs) === 0)
}

/** The parts of the datasets with the highest usage. */
export function largest(parts: readonly UsagePart[], logsMax: number): UsagePart[] {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const { logId, sum, count } of parts) {
    const known = sums.get(logId) ?? { sum: 0, count: 0 }
    sums.set(logId, { sum: known.sum + sum, count: known.count + count })
  }
  const order = [...sums].sort(([idA, a], [idB, b]) => b.sum - a.sum || b.count - a.count || (idA < idB ? -1 : 1))
  const rank = new Map(order.slice(0, logsMax).map(([id], index) => [id, index]))
  return parts.filter(({ logId }) => rank.has(logId)).sort((a, b) => (rank.get(a.logId) ?? 0) - (rank.get(b.logId) ?? 0))
}
