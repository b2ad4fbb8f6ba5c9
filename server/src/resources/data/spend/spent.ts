import type { SpendPrice, SpendSum } from '@dendro/api'
import { readFlushed } from '../../../events/ledger/reads.ts'
import { type KeptDays, type SpentBy, type SpentRow, selectSpent } from '../../../events/ledger/spent.ts'
import type { Actor } from '../../../http/actor.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { visibleDatasets, visibleLogIds } from '../datasets/datasets.ts'
import { isRecountPending } from '../ledger/ledger.ts'
import { retentionDays } from '../retention/retention.ts'
import { areApart } from '../usage/usage.ts'
import { BYTES_PER_GB, costMember, ENDLESS_DAYS, type PricedBytes } from './price.ts'

export type SpendWorld = Pick<World, 'clock' | 'deployment' | 'events' | 'ledger' | 'meta'>

export type SpentRequest = {
  bounds: TimeBounds
  slices: number
  by: SpentBy
  groupsMax: number
  /** The datasets to read; undefined for all that the caller may see. */
  from?: readonly string[] | undefined
}

/** Reads the counts of a range by slice and group. Rows of a higher rank than `groupsMax` are the sum of the rest. */
export async function readSpent(world: SpendWorld, actor: Actor, request: SpentRequest): Promise<{ rows: SpentRow[]; isExact: boolean }> {
  const { bounds, slices, by, groupsMax, from } = request
  if (bounds.toMs <= bounds.fromMs) return { rows: [], isExact: true }
  const nowMs = world.clock.nowMs()
  const [logIds, kept] = await Promise.all([visibleLogIds(world, actor, from), keptDays(world, actor)])
  const span = { orgNumber: actor.orgNumber, ...bounds, isOpen: bounds.toMs >= nowMs, logIds }
  // Before the sums: a recount that ends in between must not make sums from before it look exact.
  const isPending = await isRecountPending(world, bounds.toMs)
  const rows = await readFlushed(world.ledger, () => selectSpent(world.events, span, { slices, by, groupsMax, kept }))
  return { rows, isExact: !isPending && rows.every(({ recounted }) => recounted === 0) && areApart(bounds, slices, nowMs) }
}

/** The days for which each dataset keeps its events. Deleted datasets count as kept by the general rule. */
export async function keptDays(world: SpendWorld, actor: Actor): Promise<KeptDays> {
  const daysOf = await retentionDays(world, actor.orgId)
  const finite = (dataset: Parameters<typeof daysOf>[0]): number => daysOf(dataset) ?? ENDLESS_DAYS
  const otherwise = finite({ collection: '', retention: null })
  const special = (await visibleDatasets(world, actor))
    .map((row) => ({ id: row.id, days: finite(row) }))
    .filter(({ days }) => days !== otherwise)
  const classes = [...Map.groupBy(special, ({ days }) => days)].map(([days, own]) => ({ days, logIds: own.map(({ id }) => id) }))
  return { otherwise, classes }
}

export type Counted = PricedBytes & { slice: number; events: number }

export function sumOf(rows: readonly Counted[], slices: number, price: SpendPrice | undefined): SpendSum & { events: number } {
  const overTime = Array.from({ length: slices }, () => 0)
  let [events, bytes, byteDays] = [0, 0, 0]
  for (const row of rows) {
    events += row.events
    bytes += row.bytes
    byteDays += row.byteDays
    overTime[row.slice] = (overTime[row.slice] ?? 0) + row.bytes
  }
  return { events, bytes, gb_days: byteDays / BYTES_PER_GB, ...costMember({ bytes, byteDays }, price), bytes_over_time: overTime }
}
