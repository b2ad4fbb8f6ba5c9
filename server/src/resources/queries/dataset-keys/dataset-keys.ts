import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { Question, Source } from '../../../reading/question.ts'
import { readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { sourceDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'
import { ALL, noteSearch, questionFor } from '../../data/event-queries/event-queries.ts'

type Ask = BodyOf<typeof contract.datasetKeys.resolve>
type Found = ReplyOf<typeof contract.datasetKeys.resolve>

/** PATHS_MAX is how many different keys one given word may stand for. */
const PATHS_MAX = 200

/** resolveDatasets finds the datasets in which every given key occurs, be it in different events; without keys it just follows the selector. */
export async function resolveDatasets(world: World, actor: Actor, ask: Ask, signal: AbortSignal): Promise<Found> {
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
  const question = await questionFor(world, actor, { datasets, filter: ALL, bounds, signal })
  const holding = await Promise.all(keys.map((key) => holdersOf(world, question, pathsFor(key, ask.match_type, question.sources))))
  const found = datasets.filter(({ collection, dataset }) => holding.every(({ names }) => names.has(nameOf(collection, dataset))))
  const bytes = holding.reduce((sum, one) => sum + one.bytes, 0)
  if (keys.length > 0) noteSearch(world, actor, { datasets, bytes, startedMs })
  return { datasets: found.map(({ id }) => ({ id, type: 'LOG' as const })) }
}

const nameOf = (collection: string | null | undefined, dataset: string | null | undefined): string => JSON.stringify([collection, dataset])

/** pathsFor are the keys of these datasets that a word stands for. Only those that have a place of their own are known by name. */
function pathsFor(key: string, match: Ask['match_type'], sources: readonly Source[]): readonly string[] {
  if (match === 'EXACT') return [key]
  const known = new Set(sources.flatMap(({ located }) => [...(located?.map.slots.keys() ?? [])]))
  const matches = testOf(key, match)
  return [...known].filter((path) => matches(path.replace(/^\$/, '')) || matches(path)).slice(0, PATHS_MAX)
}

function testOf(key: string, match: Ask['match_type']): (path: string) => boolean {
  const lower = key.toLowerCase()
  if (match === 'SUBSTRING') return (path) => path.includes(key)
  return match === 'IEXACT' ? (path) => path.toLowerCase() === lower : (path) => path.toLowerCase().includes(lower)
}

/** Holders are the datasets that have one of some keys, and what it took to find them. */
type Holders = { names: ReadonlySet<string>; bytes: number }

async function holdersOf({ events }: World, question: Question, paths: readonly string[]): Promise<Holders> {
  if (paths.length === 0) return { names: new Set(), bytes: 0 }
  const of = paths.map((key): Filter => ({ kind: 'exists', key, negated: false, at: { position: 0, length: key.length } }))
  const [only] = of
  const filter: Filter = of.length === 1 && only ? only : { kind: 'or', of }
  const wish = { calls: [{ name: 'count' as const }], groups: ['@collection', '@dataset'], slices: 1, limit: question.sources.length }
  const { groups, cost } = await readStats(events, { ...question, filter }, wish)
  return { names: new Set(groups.map(({ values: [collection, dataset] }) => nameOf(collection, dataset))), bytes: cost.bytes }
}
