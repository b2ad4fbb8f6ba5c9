import type { Filter, Literal } from '@dendro/language/tree'
import type { EventStore } from '../../../events/store/events.ts'
import { mapInSteps } from '../../../kernel/steps.ts'
import type { EventQuery, StatsGroup, StatsRequest, StatsResult } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import { and } from './filters.ts'

/** The maximum number of groups above the leaves that are measured separately. */
const LEVEL_GROUPS_MAX = 10_000

/**
 * Measures the levels above the groups found, outermost first; the groups found come last. Aggregates such as means and percentiles do not add up, so
 * each level is its own query, restricted to the groups that the leaves belong to. `bytes` is the number of bytes read.
 */
export async function readLevels(
  store: EventStore,
  query: EventQuery,
  request: StatsRequest,
  leaves: StatsResult,
): Promise<{ levels: (readonly StatsGroup[])[]; bytes: number }> {
  const levels: (readonly StatsGroup[])[] = []
  let bytes = 0
  for (let depth = 1; depth < request.groups.length && leaves.groups.length > 0; depth += 1) {
    const groups = request.groups.slice(0, depth)
    const wanted = new Set(await mapInSteps(leaves.groups, ({ values }) => JSON.stringify(values.slice(0, depth))))
    const filter = groups.reduce(
      (all, key, at) => and(all, isOneOf(key, new Set(leaves.groups.map(({ values }) => values[at] ?? null)))),
      query.filter,
    )
    const found = await readStats(store, { ...query, filter }, { ...request, groups, limit: LEVEL_GROUPS_MAX })
    bytes += found.cost.bytes
    const byName = new Map(await mapInSteps(found.groups, (group) => [JSON.stringify(group.values), group] as const))
    levels.push(sortLargestFirst([...wanted].flatMap((name) => byName.get(name) ?? [])))
  }
  return { levels: [...levels, leaves.groups], bytes }
}

const NOWHERE = { position: 0, length: 0 }

/** A filter for one of several values of a key; null stands for an absent key. */
export function isOneOf(key: string, values: ReadonlySet<string | null>): Filter {
  const texts = [...values].filter((value) => value !== null)
  const literals: Literal[] = texts.map((text) => ({ kind: 'text', text }))
  const present: Filter = { kind: 'in', key, values: literals, negated: false, at: NOWHERE }
  if (!values.has(null)) return present
  const absent: Filter = { kind: 'exists', key, negated: true, at: NOWHERE }
  return texts.length === 0 ? absent : { kind: 'or', of: [present, absent] }
}

/** Sorts groups by the first aggregate, then by name. */
const sortLargestFirst = (groups: readonly StatsGroup[]): StatsGroup[] =>
  groups
    .map((group) => ({ group, size: sizeOf(group), name: group.values.join('\0') }))
    .sort((one, other) => (one.size === other.size ? compareTexts(one.name, other.name) : other.size - one.size))
    .map(({ group }) => group)

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const sizeOf = ({ whole }: StatsGroup): number => {
  const value = whole.stats[0]?.value
  return typeof value === 'number' ? value : Number.NEGATIVE_INFINITY
}
