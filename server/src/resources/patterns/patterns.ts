import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import { badField, badRequest } from '../../errors.ts'
import { messageKeys } from '../../events/shred/event.ts'
import type { Actor } from '../../http/actor.ts'
import { parseFilter } from '../../query/filter.ts'
import type { Call } from '../../query/tree.ts'
import type { FoundGroup } from '../../reading/question.ts'
import { readStats } from '../../reading/reading.ts'
import type { World } from '../../world.ts'
import { sourceDatasets } from '../datasets/source.ts'
import { noteSearch } from '../search/note-search.ts'
import { boundsOf, gather } from '../search/plan.ts'
import { questionFor } from '../search/question.ts'
import { templateFor } from './template.ts'

type Ask = BodyOf<typeof contract.patterns.find>
type Found = ReplyOf<typeof contract.patterns.find>

const PATTERNS_MAX = 1_000
const DEFAULT_RANGE = 'last 1 day'
const GROUPS = ['@pattern', '@collection', '@dataset']
/** An event of each pattern shows what its template is: the message, which stands under the first of these keys, or the line. */
const CALLS: readonly Call[] = [{ name: 'count' }, ...[...messageKeys, '@raw'].map((key): Call => ({ name: 'last', key }))]

/** findPatterns counts all matching events by pattern and dataset. */
export async function findPatterns(world: World, actor: Actor, { search_details: ask }: Ask, signal: AbortSignal): Promise<Found> {
  if (ask.from?.length && ask.from_expr?.trim()) {
    throw badRequest('from and from_expr exclude each other', {
      errors: [{ field: 'search_details.from_expr', code: 'CONFLICT', message: 'excludes from' }],
    })
  }
  if (!ask.from?.length && !ask.from_expr?.trim()) throw badField('search_details.from', 'or from_expr is required', 'MISSING_SOURCE')
  const { filter, bounds } = gather({
    filter: () => parseFilter(ask.where ?? '', 'search_details.where').filter,
    bounds: () => boundsOf(ask, world.clock.nowMs(), DEFAULT_RANGE),
  })
  const startedMs = world.clock.monotonicMs()
  const datasets = await sourceDatasets(world, actor, ask)
  const question = await questionFor(world, actor, { datasets, filter, bounds, signal })
  // One more, since the events without a message make a group that is no pattern.
  const found = await readStats(world.events, question, { calls: CALLS, groups: GROUPS, slices: 1, limit: PATTERNS_MAX + 1 })
  noteSearch(world, actor, { datasets, bytes: found.cost.bytes, startedMs })
  const ids = new Map(datasets.map(({ id, collection, dataset }) => [JSON.stringify([collection, dataset]), id]))
  return { patterns: found.groups.flatMap((group) => patternOfGroup(group, ids)).slice(0, PATTERNS_MAX) }
}

function patternOfGroup({ values: [id, ...place], whole }: FoundGroup, ids: ReadonlyMap<string, string>): Found['patterns'] {
  const log_id = ids.get(JSON.stringify(place))
  if (!id || log_id === undefined) return []
  const [, ...texts] = whole.stats.map(({ value }) => (typeof value === 'string' ? value : undefined))
  const message = texts.slice(0, -1).find((text) => text !== undefined)
  return [{ id, template: templateFor(id, message, texts.at(-1) ?? ''), log_id, count: whole.count }]
}
