import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { EventQuery, QuerySource } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { sourceDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'

type KeysQuery = BodyOf<typeof contract.datasetKeys.resolve>
type KeysReply = ReplyOf<typeof contract.datasetKeys.resolve>

/** The maximum number of keys that one given word may match. */
const PATHS_MAX = 200

/** Finds the datasets in which every given key occurs, possibly in different events; without keys it evaluates the selector only. */
export async function resolveDatasets(world: World, actor: Actor, ask: KeysQuery, signal: AbortSignal): Promise<KeysReply> {
  const keys = ask.keys ?? []
  if (keys.length === 0 && !ask.from_expr?.trim()) throw badField('keys', 'or from_expr is required', 'MISSING_SOURCE')
  if (ask.expand_type === 'SYNONYM' && ask.match_type.endsWith('SUBSTRING')) {
    throw badField('expand_type', 'SYNONYM goes with EXACT and IEXACT only', 'CONFLICT')
  }
  const bounds = boundsOf(ask, world.clock.nowMs(), undefined)
  const datasets = ask.from_expr?.trim()
    ? await sourceDatasets(world, actor, { from_expr: ask.from_expr })
    : (await visibleDatasets(world, actor)).filter((dataset) => !dataset.is_system_generated)
  const startedMs = world.clock.monotonicMs()
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: ALL_EVENTS, bounds, signal })
  const holding = await Promise.all(keys.map((key) => holdersOf(world, eventQuery, pathsFor(key, ask.match_type, eventQuery.sources))))
  const found = datasets.filter(({ collection, dataset }) => holding.every(({ names }) => names.has(nameOf(collection, dataset))))
  const bytes = holding.reduce((sum, one) => sum + one.bytes, 0)
  if (keys.length > 0) recordSearch(world, actor, { datasets, bytes, startedMs })
  return { datasets: found.map(({ id }) => ({ id, type: 'LOG' as const })) }
}

const nameOf = (collection: string | null | undefined, dataset: string | null | undefined): string => JSON.stringify([collection, dataset])

/** The keys of these datasets that match a word. Only keys with a slot are known by name. */
function pathsFor(key: string, match: KeysQuery['match_type'], sources: readonly QuerySource[]): readonly string[] {
  if (match === 'EXACT') return [key]
  const known = new Set(sources.flatMap(({ located }) => [...(located?.map.slots.keys() ?? [])]))
  const matches = testOf(key, match)
  return [...known].filter((path) => matches(path.replace(/^\$/, '')) || matches(path)).slice(0, PATHS_MAX)
}

function testOf(key: string, match: KeysQuery['match_type']): (path: string) => boolean {
  const lower = key.toLowerCase()
  if (match === 'SUBSTRING') return (path) => path.includes(key)
  return match === 'IEXACT' ? (path) => path.toLowerCase() === lower : (path) => path.toLowerCase().includes(lower)
}

/** The datasets that have one of the keys, and the cost of finding them. */
type Holders = { names: ReadonlySet<string>; bytes: number }

async function holdersOf({ events }: World, eventQuery: EventQuery, paths: readonly string[]): Promise<Holders> {
  if (paths.length === 0) return { names: new Set(), bytes: 0 }
  const of = paths.map((key): Filter => ({ kind: 'exists', key, negated: false, at: { position: 0, length: key.length } }))
  const [only] = of
  const filter: Filter = of.length === 1 && only ? only : { kind: 'or', of }
  const request = { calls: [{ name: 'count' as const }], groups: ['@collection', '@dataset'], slices: 1, limit: eventQuery.sources.length }
  const { groups, cost } = await readStats(events, { ...eventQuery, filter }, request)
  return { names: new Set(groups.map(({ values: [collection, dataset] }) => nameOf(collection, dataset))), bytes: cost.bytes }
}
