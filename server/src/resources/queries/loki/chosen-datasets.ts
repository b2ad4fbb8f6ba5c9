import type { Actor } from '../../../http/actor.ts'
import type { DatasetLayout } from '../../../lines/layout/catalog.ts'
import type { World } from '../../../world.ts'
import { locateAll } from '../../data/catalog/catalog.ts'
import { type DatasetRow, type DatasetSelection, visibleDatasets } from '../../data/datasets/datasets.ts'
import { type DatasetKeys, LabelKeys } from './label-names.ts'
import type { LabelMatcher } from './logql/tree.ts'
import { valueTest } from './matchers.ts'

/** The datasets that a selector may match, and the keys of their labels. */
export type ChosenDatasets = { readonly datasets: readonly DatasetRow[]; readonly keys: LabelKeys }

/** Chooses among the datasets that the caller may see. Datasets whose names the matchers exclude are not read. */
export async function chooseDatasets(world: Pick<World, 'meta'>, actor: Actor, matchers: readonly LabelMatcher[]): Promise<ChosenDatasets> {
  const visible = (await visibleDatasets(world, actor)).filter((dataset) => !dataset.is_system_generated || namesSystem(matchers))
  const located = await locateAll(
    world,
    actor.orgId,
    visible.map(({ id }) => id),
  )
  const tests = nameTests(matchers)
  const datasets: DatasetRow[] = []
  const known: DatasetKeys[] = []
  for (const [index, dataset] of visible.entries()) {
    const keys = keysOf(located[index])
    const own = new LabelKeys([keys])
    // An attribute with the name of the label takes precedence over the name of the dataset.
    const isExcluded = tests.some(({ name, test }) => !own.isOverridden(name) && !test(dataset[name]))
    if (isExcluded) continue
    datasets.push(dataset)
    known.push(keys)
  }
  return { datasets, keys: new LabelKeys(known) }
}

const NO_KEYS: DatasetKeys = { keys: [], ofEvents: new Set() }
const keysOf = (layout: DatasetLayout | undefined): DatasetKeys =>
  layout ? { keys: [...layout.map.slots.keys()], ofEvents: layout.ofEvents } : NO_KEYS

type NameTest = { readonly name: 'dataset' | 'collection'; readonly test: (text: string) => boolean }

/** The matchers that test the names of datasets. */
const nameTests = (matchers: readonly LabelMatcher[]): NameTest[] =>
  matchers.flatMap((matcher) => {
    const { name } = matcher
    return name === 'dataset' || name === 'collection' ? [{ name, test: valueTest(matcher) }] : []
  })

/** The keys of labels while a tail is open. They are read again when an event of a dataset arrives that was not there. */
export class TailKeys {
  readonly #read: () => Promise<ChosenDatasets>
  #logIds: ReadonlySet<string> = new Set()
  #keys = new LabelKeys([])

  constructor(world: Pick<World, 'meta'>, actor: Actor, matchers: readonly LabelMatcher[]) {
    this.#read = () => chooseDatasets(world, actor, matchers)
  }

  async of(logIds: ReadonlySet<string>): Promise<LabelKeys> {
    if (logIds.isSubsetOf(this.#logIds)) return this.#keys
    const { datasets, keys } = await this.#read()
    this.#logIds = new Set([...datasets.map(({ id }) => id), ...logIds])
    this.#keys = keys
    return keys
  }
}

/**
 * Returns a choice among datasets that may change while a tail is open. Datasets are excluded by their names unless an attribute has the name of the
 * label anywhere.
 */
export async function datasetSelectionFor(
  world: Pick<World, 'meta'>,
  actor: Actor,
  matchers: readonly LabelMatcher[],
): Promise<DatasetSelection> {
  const { keys } = await chooseDatasets(world, actor, [])
  const tests = nameTests(matchers).filter(({ name }) => !keys.isOverridden(name))
  return (datasets) =>
    datasets.filter(
      (dataset) => (!dataset.is_system_generated || namesSystem(matchers)) && tests.every(({ name, test }) => test(dataset[name])),
    )
}

/** System datasets match only a selector that names them: their names begin with a dot. */
const namesSystem = (matchers: readonly LabelMatcher[]): boolean =>
  matchers.some(({ name, operator, value }) => (name === 'dataset' || name === 'collection') && operator === '=' && value.startsWith('.'))
