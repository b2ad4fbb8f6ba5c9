import type { contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../http/actor.ts'
import type { World } from '../../world.ts'
import { visibleDatasets } from '../datasets/datasets.ts'

type Collections = ReplyOf<typeof contract.collections.list>['collections']

/** listCollections gives one object per collection, from its name to its datasets; both are sorted by name. */
export async function listCollections(world: Pick<World, 'meta'>, actor: Actor): Promise<Collections> {
  const byName = new Map<string, { dataset: string; id: string }[]>()
  const datasets = (await visibleDatasets(world, actor)).toSorted((a, b) => order(a.dataset, b.dataset))
  for (const { collection, dataset, id } of datasets) {
    const members = byName.get(collection)
    if (members) members.push({ dataset, id })
    else byName.set(collection, [{ dataset, id }])
  }
  return [...byName].toSorted(([a], [b]) => order(a, b)).map(([name, members]) => ({ [name]: members }))
}

/** order is the same everywhere, whatever the language of the machine. */
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
