import type { Selector } from '@dendro/language/selector'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { parseSelector, refusal } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import { selectorOfTags } from '../../../query/selector-tags.ts'
import type { World } from '../../../world.ts'
import { visibleDatasets } from './listing.ts'
import type { DatasetRow } from './rows.ts'

/** A SourceSelection is how a question about events says which datasets it reads. */
export type SourceSelection = {
  /** from has ids, or names with a dot between collection and dataset. */
  from?: readonly string[] | undefined
  from_expr?: string | undefined
  /** from_tags is deprecated. */
  from_tags?: readonly string[] | undefined
}

/**
 * sourceDatasets are the datasets a question reads, of those the caller may see: `from_expr` wins over `from_tags`, that over `from`. Saying
 * nothing is a 400, finding nothing a 404; of ids known and unknown the known ones are read.
 */
export const sourceDatasets = async (world: Pick<World, 'meta'>, actor: Actor, source: SourceSelection): Promise<DatasetRow[]> =>
  selectedDatasets(world, actor, datasetSelectionOf(source))

/** selectedDatasets is `sourceDatasets` for a source that has been read. */
export async function selectedDatasets(world: Pick<World, 'meta'>, actor: Actor, choose: DatasetSelection): Promise<DatasetRow[]> {
  const chosen = choose(await visibleDatasets(world, actor))
  if (chosen.length === 0) throw new Failure(404, 'no datasets matched')
  return chosen
}

/** A DatasetSelection chooses among the datasets that there are. */
export type DatasetSelection = (datasets: readonly DatasetRow[]) => DatasetRow[]

/** datasetSelectionOf reads a source once, for whoever looks again and again at what there is. */
export function datasetSelectionOf(source: SourceSelection): DatasetSelection {
  const selector = selectorOf(source)
  if (selector) return (datasets) => matchDatasets(selector, datasets)
  const named = new Set(source.from)
  return (datasets) => datasets.filter(({ id, collection, dataset }) => named.has(id) || named.has(`${collection}.${dataset}`))
}

function selectorOf(source: SourceSelection): Selector | undefined {
  if (source.from_expr?.trim()) return parseSelector(source.from_expr)
  if (source.from_tags?.length) return selectorOfTags(source.from_tags)
  if (source.from?.length) return undefined
  throw refusal('from', { code: 'MISSING_SOURCE', message: 'give from or from_expr' })
}
