import type { contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { type SerializedJson, serializeOnce } from '../../../http/serialized-json.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, visibleDatasets } from '../datasets/datasets.ts'

type Collections = ReplyOf<typeof contract.collections.list>

/** One object that maps each collection name to its datasets, both sorted by name. */
export async function listCollections(world: Pick<World, 'meta'>, actor: Actor): Promise<SerializedJson<Collections>> {
  return serializedList(await visibleDatasets(world, actor))
}

const serializedList = serializeOnce((visible: readonly DatasetRow[]): Collections => {
  const byName = new Map<string, { dataset: string; id: string }[]>()
  for (const { collection, dataset, id } of visible.toSorted((a, b) => order(a.dataset, b.dataset))) {
    const members = byName.get(collection)
    if (members) members.push({ dataset, id })
    else byName.set(collection, [{ dataset, id }])
  }
  const sorted = [...byName].toSorted(([a], [b]) => order(a, b))
  return { collections: sorted.map(([name, members]) => ({ [name]: members })) }
})

/** Independent of the locale of the machine. */
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
