import type { Selector } from '@dendro/language/selector'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { oncePerObject } from '../../../kernel/once-per-object.ts'
import { parseSelector, refusal } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import { selectorOfTags } from '../../../query/selector-tags.ts'
import type { World } from '../../../world.ts'
import { visibleDatasets } from './listing.ts'
import type { DatasetRow } from './rows.ts'

/** Selects the datasets that a query reads. */
export type SourceSelection = {
  /** Ids, or names with a dot between collection and dataset. */
  from?: readonly string[] | undefined
  from_expr?: string | undefined
  /** Deprecated. */
  from_tags?: readonly string[] | undefined
}

/**
 * The datasets a query reads, among those the caller may see: `from_expr` wins over `from_tags`, and that over `from`. No selection is a 400, an
 * empty result a 404; among known and unknown ids the known ones are read.
 */
export const sourceDatasets = async (world: Pick<World, 'meta'>, actor: Actor, source: SourceSelection): Promise<DatasetRow[]> =>
  selectedDatasets(world, actor, datasetSelectionOf(source))

/** Like sourceDatasets, for a parsed source. */
export async function selectedDatasets(world: Pick<World, 'meta'>, actor: Actor, choose: DatasetSelection): Promise<DatasetRow[]> {
  const chosen = choose(await visibleDatasets(world, actor))
  if (chosen.length === 0) throw new Failure(404, 'no datasets matched')
  return chosen
}

/** Chooses among the existing datasets. */
export type DatasetSelection = (datasets: readonly DatasetRow[]) => DatasetRow[]

/** Parses a source once, for repeated use on changing datasets; `at` is the object that has its fields, if any. */
export function datasetSelectionOf(source: SourceSelection, at?: string): DatasetSelection {
  const selector = selectorOf(source, at === undefined ? '' : `${at}.`)
  if (selector) return (datasets) => matchDatasets(selector, datasets)
  const named = [...new Set(source.from)]
  return (datasets) => {
    const places = placesOf(datasets)
    const found = new Set(named.flatMap((name) => places.get(name) ?? []))
    return [...found].sort((one, other) => one - other).flatMap((place) => datasets[place] ?? [])
  }
}

/** The places of datasets in a list, by id and by full name. The lists of an organization stay the same until a dataset changes. */
const placesOf = oncePerObject((datasets: readonly DatasetRow[]): ReadonlyMap<string, readonly number[]> => {
  const places = new Map<string, number[]>()
  const note = (name: string, place: number): void => {
    const known = places.get(name)
    if (known) known.push(place)
    else places.set(name, [place])
  }
  for (const [place, { id, collection, dataset }] of datasets.entries()) {
    note(id, place)
    note(`${collection}.${dataset}`, place)
  }
  return places
})

function selectorOf(source: SourceSelection, prefix: string): Selector | undefined {
  if (source.from_expr?.trim()) return parseSelector(source.from_expr, `${prefix}from_expr`)
  if (source.from_tags?.length) return selectorOfTags(source.from_tags)
  if (source.from?.length) return undefined
  throw refusal(`${prefix}from`, { code: 'MISSING_SOURCE', message: 'give from or from_expr' })
}
