import type { AggregateCall } from '@dendro/language/tree'
import type { FoundEvent, StatsResult } from '../../../reading/query.ts'
import { WEIGHT_KEY } from '../../data/event-queries/event-queries.ts'

export const WEIGHTS: AggregateCall = { name: 'sum', key: WEIGHT_KEY }

/** The weight of a span; 1 for one that stands for itself. */
export function weightOf({ leaves }: Pick<FoundEvent, 'leaves'>): number {
  const weight = Number(leaves.get(WEIGHT_KEY) ?? 1)
  return Number.isFinite(weight) && weight >= 1 ? weight : 1
}

/** What sampled spans stand for besides themselves, by the values of their group. */
export type Unstored = ReadonlyMap<string, number>

export const nameOfGroup = (values: readonly (string | null)[]): string => JSON.stringify(values)

/** Reads it from statistics of the sampled spans, with their weights as the first value. */
export const unstoredOf = ({ groups }: Pick<StatsResult, 'groups'>): Unstored =>
  new Map(groups.map(({ values, whole }) => [nameOfGroup(values), Math.max(0, Number(whole.stats[0]?.value ?? 0) - whole.count)]))

/** The number of spans that a number of stored ones stands for. */
export const withUnstored = (spans: number, values: readonly (string | null)[], unstored: Unstored): number =>
  Math.round(spans + (unstored.get(nameOfGroup(values)) ?? 0))
