import type { Filter } from '@dendro/language/tree'
import { badRequest } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import type { Bounds, Budget, Cost, Question, Source } from '../../reading/question.ts'
import type { QueryLimit, World } from '../../world.ts'
import { locateAll } from '../catalog/catalog.ts'
import type { DatasetRow } from '../datasets/datasets.ts'
import { keptSince } from '../retention/keepings.ts'

export type Wanted = {
  readonly datasets: readonly Pick<DatasetRow, 'id' | 'collection' | 'dataset' | 'retention'>[]
  readonly filter: Filter
  readonly bounds: Bounds
  readonly signal: AbortSignal
  readonly budget?: Budget
  readonly onProgress?: (cost: Cost) => void
}

/** DATASETS_MAX is how many datasets one question may read. */
const DATASETS_MAX = 100_000

/** ALL is the filter that every event passes. */
export const ALL: Filter = { kind: 'all' }

/** questionFor puts to the store what an actor asks, within his budget; the datasets are those he may see. */
export async function questionFor(world: Pick<World, 'meta' | 'deployment' | 'clock'>, actor: Actor, wanted: Wanted): Promise<Question> {
  const { datasets, filter, bounds, signal, onProgress } = wanted
  if (datasets.length > DATASETS_MAX) {
    throw badRequest(`${datasets.length} datasets matched; one question reads at most ${DATASETS_MAX}, so narrow from or from_expr`)
  }
  const keptSinceMs = await keptSince(world, actor.orgId)
  const ids = datasets.map(({ id }) => id)
  const located = await locateAll(world, actor.orgId, ids)
  const sources = datasets.map(
    (dataset, at): Source => ({
      logId: dataset.id,
      collection: dataset.collection,
      dataset: dataset.dataset,
      located: located[at],
      keptSinceMs: keptSinceMs(dataset),
    }),
  )
  const budget = wanted.budget ?? budgetOf(world, actor)
  return { orgNumber: actor.orgNumber, sources, filter, bounds, budget, signal, ...(onProgress ? { onProgress } : {}) }
}

/** budgetOf is what one question of an actor may cost: the most that any of his roles allows. */
export function budgetOf({ deployment }: Pick<World, 'deployment'>, { roles }: Pick<Actor, 'roles'>): Budget {
  const { bytes, rows, seconds, memoryBytes } = deployment.queryLimits
  const most = ({ otherwise, byRole }: QueryLimit): number =>
    roles.length === 0 ? otherwise : Math.max(...roles.map((role) => byRole.get(role) ?? otherwise))
  return { bytes: most(bytes), rows: most(rows), seconds: most(seconds), memoryBytes }
}

export const and = (one: Filter, other: Filter): Filter => {
  if (one.kind === 'all') return other
  return other.kind === 'all' ? one : { kind: 'and', of: [one, other] }
}
