import type { Tags } from '@dendro/api'
import type { Actor } from '../../http/actor.ts'
import type { World } from '../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { type DatasetRow, shownDataset } from './datasets.ts'
import { countBirth, insertDataset, lockDataset, removeBirths, selectDatasetByName, selectDatasets, updateDatasetTags } from './rows.ts'

export type { DatasetRow } from './datasets.ts'

/** A Place is where events are to go; a system place is one that only the service itself may open. */
export type Place = { collection: string; dataset: string; tags: Tags; isSystem: boolean }

/** An Ensured dataset; `turnedAway` says that the wanted one was one too many, and whether it was the first of its hour. */
export type Ensured = { row: DatasetRow; turnedAway?: 'first' | 'again' }

/** BIRTHS_MAX is how many datasets one identity may bring into being in an hour: one bad template must not ruin an installation. */
export const BIRTHS_MAX = 100
const HOUR_MS = 3_600_000
const TAGS_MAX = 100
type Teller = Pick<World, 'clock' | 'ids' | 'meta'>

const OVERFLOW = 'overflow'
const DEFAULT = 'default'

/** ensureDataset finds the dataset of that name or makes it: the first event brings it into being. Tags that it lacks are added to it. */
export async function ensureDataset(world: Teller, actor: Actor, place: Place): Promise<Ensured> {
  const known = await findByName(world, actor.orgId, place.collection, place.dataset)
  if (known) return { row: await withTags(world, actor, known, place.tags) }
  if (place.isSystem) return { row: await bear(world, actor, place) }
  return shareBirth(world, `${actor.orgId}/${actor.identity.id}/${keyOf(place.collection, place.dataset)}`, () =>
    birth(world, actor, place),
  )
}

const birthsUnderWay = new WeakMap<World['meta'], Map<string, Promise<Ensured>>>()

/** shareBirth lets posts that want the same new dataset at once share one birth: each of them counted alone would fill the hour. */
async function shareBirth(world: Teller, key: string, start: () => Promise<Ensured>): Promise<Ensured> {
  const underWay = birthsUnderWay.get(world.meta) ?? new Map<string, Promise<Ensured>>()
  birthsUnderWay.set(world.meta, underWay)
  const other = underWay.get(key)
  if (other) {
    const { row, turnedAway } = await other
    return turnedAway ? { row, turnedAway: 'again' } : { row }
  }
  const own = start().finally(() => underWay.delete(key))
  underWay.set(key, own)
  return own
}

async function birth(world: Teller, actor: Actor, place: Place): Promise<Ensured> {
  const made = await selectDatasetByName(world.meta, actor.orgId, place.collection, place.dataset)
  if (made) return { row: await withTags(world, actor, made, place.tags) }
  const nowMs = world.clock.nowMs()
  const hourStartMs = nowMs - (nowMs % HOUR_MS)
  const births = (await countBirth(world.meta, actor.orgId, actor.identity.id, hourStartMs))?.births ?? 1
  if (births <= BIRTHS_MAX) return { row: await bear(world, actor, place) }
  return { row: await overflowOf(world, actor, place.collection), turnedAway: births === BIRTHS_MAX + 1 ? 'first' : 'again' }
}

/** forgetBirths drops the counts of hours that are over. */
export const forgetBirths = (world: Pick<World, 'meta' | 'clock'>): Promise<number> =>
  removeBirths(world.meta, world.clock.nowMs() - 2 * HOUR_MS)

/** overflowOf is where events go whose dataset is one too many. A collection that is not there yet would be one too many as well. */
async function overflowOf(world: Teller, actor: Actor, wanted: string): Promise<DatasetRow> {
  const all = await byName(world, actor.orgId)
  const collection = all.collections.has(wanted) ? wanted : DEFAULT
  const known = await findByName(world, actor.orgId, collection, OVERFLOW)
  return known ?? bear(world, actor, { collection, dataset: OVERFLOW, tags: {}, isSystem: false })
}

type ByName = { datasets: ReadonlyMap<string, DatasetRow>; collections: ReadonlySet<string> }

const keyOf = (collection: string, dataset: string): string => `${collection}\0${dataset}`

const byName = (world: Pick<World, 'meta'>, orgId: string): Promise<ByName> =>
  world.meta.cached(orgId, 'datasets-by-name', async () => {
    const rows = await selectDatasets(world.meta, orgId)
    return {
      datasets: new Map(rows.map((row) => [keyOf(row.collection, row.dataset), row])),
      collections: new Set(rows.map((row) => row.collection)),
    }
  })

const findByName = async (
  world: Pick<World, 'meta'>,
  orgId: string,
  collection: string,
  dataset: string,
): Promise<DatasetRow | undefined> => (await byName(world, orgId)).datasets.get(keyOf(collection, dataset))

/** bear makes the dataset; of two who do so at once the unique index lets one, and the other finds it. */
async function bear(world: Teller, actor: Actor, { collection, dataset, tags, isSystem }: Place): Promise<DatasetRow> {
  const nowMs = world.clock.nowMs()
  return world.meta.write(actor.orgId, async (tx) => {
    const made = await insertDataset(tx, {
      org_id: actor.orgId,
      id: world.ids.uuid(),
      collection,
      dataset,
      is_system_generated: isSystem,
      tags: capped(tags),
      parser_id: null,
      retention: null,
      created_at: nowMs,
      created_by: actor.identity,
      modified_at: nowMs,
      modified_by: actor.identity,
    })
    if (made) {
      await recordChange(world, tx, actor, { entity: { type: 'dataset', id: made.id }, after: shownDataset(made) })
      return made
    }
    const found = await selectDatasetByName(tx, actor.orgId, collection, dataset)
    if (!found) throw new Error('a dataset was neither made nor found')
    return found
  })
}

const capped = (tags: Tags): Tags => Object.fromEntries(Object.entries(tags).slice(0, TAGS_MAX))

/** withTags adds the tags that are missing; one that is there stays as it is, or two senders would change it for ever. */
async function withTags(world: Teller, actor: Actor, row: DatasetRow, tags: Tags): Promise<DatasetRow> {
  if (missingIn(row.tags, tags).length === 0) return row
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockDataset(tx, actor.orgId, row.id)
    if (!before) return row
    const missing = missingIn(before.tags, tags)
    if (missing.length === 0) return before
    const merged = { ...before.tags, ...Object.fromEntries(missing) }
    const after = await updateDatasetTags(tx, { ...before, tags: merged, modified_at: world.clock.nowMs(), modified_by: actor.identity })
    if (!after) return before
    await recordChange(world, tx, actor, {
      entity: { type: 'dataset', id: row.id },
      before: shownDataset(before),
      after: shownDataset(after),
    })
    return after
  })
}

function missingIn(has: Tags, wanted: Tags): [string, string][] {
  const room = TAGS_MAX - Object.keys(has).length
  return Object.entries(wanted)
    .filter(([name]) => !Object.hasOwn(has, name))
    .slice(0, Math.max(0, room))
}
