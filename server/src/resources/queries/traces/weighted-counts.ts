import type { Filter } from '@dendro/language/tree'
import type { EventQuery, QueryCost } from '../../../reading/query.ts'
import { countWithin, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { and, isSampled, WEIGHT_KEY } from '../../data/event-queries/event-queries.ts'
import { WEIGHTS } from './sampled-spans.ts'
import { hasText } from './span-filter.ts'

/** Spans with one weight, or with several that few have, which count by their mean. */
type Weighted = { readonly filter: Filter; readonly weight: number }

/** How many weights are counted apart: one for each share of a rule that applied in the range. */
const WEIGHTS_MAX = 8

type Counting = { readonly store: World['events']; query(filter: Filter): Promise<EventQuery>; read(cost: QueryCost): void }

/** The weights of the spans that match a filter and stand for others too. */
export async function weightsAmong({ store, query, read }: Counting, filter: Filter): Promise<readonly Weighted[]> {
  const sampled = and(filter, isSampled)
  const { groups, groupsTotal, whole, cost } = await readStats(store, await query(sampled), {
    calls: [WEIGHTS],
    groups: [WEIGHT_KEY],
    slices: 1,
    limit: WEIGHTS_MAX,
  })
  read(cost)
  const one = groups.flatMap(({ values: [value] }): Weighted[] => {
    const weight = Number(value)
    return value !== null && value !== undefined && weight > 1 ? [{ filter: hasText(WEIGHT_KEY, value), weight }] : []
  })
  if (groupsTotal <= groups.length) return one
  const counted = groups.reduce((sum, group) => sum + group.whole.count, 0)
  const weighed = groups.reduce((sum, group) => sum + Number(group.whole.stats[0]?.value ?? 0), 0)
  const weight = (Number(whole.stats[0]?.value ?? 0) - weighed) / Math.max(1, whole.count - counted)
  const others: Filter = { kind: 'not', of: { kind: 'or', of: one.map((group) => group.filter) } }
  return weight > 1 ? [...one, { filter: and(isSampled, others), weight }] : one
}

/** Counts the spans that match a filter and each of several others too, each as many times as its weight. */
export async function countWeighted(
  counting: Counting,
  filter: Filter,
  of: readonly Filter[],
  weights: readonly Weighted[],
): Promise<number[]> {
  const { store, query, read } = counting
  const count = async (all: Filter): Promise<readonly number[]> => {
    const { counts, cost } = await countWithin(store, await query(all), of)
    read(cost)
    return counts
  }
  const stored = await count(filter)
  const more = await Promise.all(weights.map(async (one) => ({ weight: one.weight, counts: await count(and(filter, one.filter)) })))
  return stored.map((own, at) => Math.round(more.reduce((sum, { weight, counts }) => sum + (weight - 1) * (counts[at] ?? 0), own)))
}
