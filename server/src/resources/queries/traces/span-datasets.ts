import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, type SourceSelection, sourceDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'

/** The collection of spans. Other system collections hold no traces. */
const SPANS_COLLECTION = '.traces'

export const isOfSpans = (collection: string): boolean => collection === SPANS_COLLECTION
export const mayHaveTraces = (collection: string): boolean => !collection.startsWith('.') || isOfSpans(collection)

/** The datasets of spans that the caller may see. */
export const spanDatasets = async (world: Pick<World, 'meta'>, actor: Actor): Promise<DatasetRow[]> =>
  (await visibleDatasets(world, actor)).filter(({ collection }) => isOfSpans(collection))

/** The datasets that a request selects, or else all of spans. */
export const searchedDatasets = (world: Pick<World, 'meta'>, actor: Actor, source: SourceSelection): Promise<DatasetRow[]> =>
  source.from_expr?.trim() || source.from?.length ? sourceDatasets(world, actor, source) : spanDatasets(world, actor)
