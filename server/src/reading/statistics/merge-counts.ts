import type { AggregateCall } from '@dendro/language/tree'
import type { StatsRow } from '../query.ts'
import type { BinaryRows } from '../run/row-binary.ts'
import { measuresOf, statsRowOf } from './aggregates.ts'

/** The number of events with a value of the key. '' stands for events without the key. */
export type GroupCount = { readonly stored: string; readonly whole: StatsRow }
export type GroupCounts = { readonly groups: readonly GroupCount[]; readonly total: number; readonly whole: StatsRow }

/** Whether the number of events determines the results of all calls. */
export const needCountsOnly = (calls: readonly AggregateCall[]): boolean => calls.flatMap(measuresOf).length === 0

/**
 * Adds up counts by group, of which each read returned its own, and keeps the largest groups. The store needs more time to plan the
 * same: a third of a short query.
 */
export function mergeGroupCounts(
  read: readonly BinaryRows[],
  { calls, limit, widthMs }: { calls: readonly AggregateCall[]; limit: number; widthMs: number },
): GroupCounts {
  const counts = new Map<string, number>()
  let events = 0
  for (const rows of read) {
    while (rows.next()) {
      const stored = rows.text()
      const count = Number(rows.uint64())
      // Where all keys are constant, the store returns a group without events.
      if (count > 0) counts.set(stored, (counts.get(stored) ?? 0) + count)
      events += count
    }
  }
  const all = [...counts].map(([stored, count]) => ({ stored, count, bytes: orderedBytes(stored) }))
  const largest = all.sort((one, other) => other.count - one.count || byBytes(one, other)).slice(0, limit)
  const groups = largest.map(({ stored, count }) => ({ stored, whole: statsRowOf(calls, count, widthMs) }))
  return { groups, total: counts.size, whole: statsRowOf(calls, events, widthMs) }
}

/** Values are ordered by their bytes, as in the store. Events without the key are ordered as `null`, before the value of that text. */
const orderedBytes = (stored: string): Buffer => Buffer.from(stored === '' ? 'null' : stored)

const byBytes = (one: Ordered, other: Ordered): number =>
  Buffer.compare(one.bytes, other.bytes) || Number(other.stored === '') - Number(one.stored === '')
type Ordered = { readonly stored: string; readonly bytes: Buffer }
