import type { Tags } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { recordChanges } from '../../access/audit/audit.ts'
import { shownDataset } from './listing.ts'
import {
  countBirths,
  type DatasetRow,
  insertDatasets,
  lockDatasets,
  removeBirths,
  selectDatasets,
  selectDatasetsByName,
  updateDatasetsTags,
} from './rows.ts'

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

/**
 * ensureDatasets finds the dataset of each place or creates it, in the order of the places; the first event creates its dataset. Tags that a dataset
 * lacks are added to it. However many places there are, it takes a handful of statements.
 */
export async function ensureDatasets(world: Teller, actor: Actor, places: readonly Place[]): Promise<Ensured[]> {
  const { datasets: known } = await byName(world, actor.orgId)
  const wanted = new Map(places.map((place) => [nameOf(place), place]))
  const unknown = [...wanted].filter(([name]) => !known.has(name)).map(([, place]) => place)
  const created = unknown.length === 0 ? new Map<string, Ensured>() : await createShared(world, actor, unknown)
  const found = (place: Place): Ensured => {
    const row = known.get(nameOf(place))
    const ensured = row ? { row } : created.get(nameOf(place))
    if (!ensured) throw new Error('a dataset was neither found nor created')
    return ensured
  }
  // A dataset that only takes what is too much for others does not take over their tags.
  const lacking = places.filter((place) => {
    const { row, turnedAway } = found(place)
    return turnedAway === undefined && missingIn(row.tags, place.tags).length > 0
  })
  const tagged = await addTags(world, actor, new Map(lacking.map((place) => [found(place).row.id, place.tags])))
  const warned = new Set<string>()
  return places.map((place) => {
    const { row, turnedAway } = found(place)
    const now = tagged.get(row.id) ?? row
    if (turnedAway === undefined) return { row: now }
    const isFirst = turnedAway === 'first' && !warned.has(nameOf(place))
    warned.add(nameOf(place))
    return { row: now, turnedAway: isFirst ? 'first' : 'again' }
  })
}

const underWay = new WeakMap<World['meta'], Map<string, Promise<Ensured>>>()

/** createShared lets posts that want the same new dataset at once share its creation: each of them counted alone would fill the hour. */
async function createShared(world: Teller, actor: Actor, places: readonly Place[]): Promise<ReadonlyMap<string, Ensured>> {
  const shared = underWay.get(world.meta) ?? new Map<string, Promise<Ensured>>()
  underWay.set(world.meta, shared)
  const keyOf = (place: Place): string => `${actor.orgId}/${actor.identity.id}/${nameOf(place)}`
  const others = places.flatMap((place) => {
    const other = shared.get(keyOf(place))
    return other ? [[nameOf(place), other] as const] : []
  })
  const own = places.filter((place) => !shared.has(keyOf(place)))
  const creating = own.length === 0 ? Promise.resolve(new Map<string, Ensured>()) : createAll(world, actor, own)
  for (const place of own) {
    const one = creating.then((all) => all.get(nameOf(place)) ?? missing(place))
    one.catch(() => undefined)
    shared.set(keyOf(place), one)
  }
  try {
    const created = new Map(await creating)
    for (const [name, other] of others) {
      const { row, turnedAway } = await other
      created.set(name, turnedAway ? { row, turnedAway: 'again' } : { row })
    }
    return created
  } finally {
    for (const place of own) shared.delete(keyOf(place))
  }
}

function missing({ collection, dataset }: Place): never {
  throw new Error(`the dataset ${collection}/${dataset} was neither created nor found`)
}

async function createAll(world: Teller, actor: Actor, places: readonly Place[]): Promise<ReadonlyMap<string, Ensured>> {
  // What is remembered may be older than what another process has created.
  const made = new Map((await selectDatasetsByName(world.meta, actor.orgId, places)).map((row) => [nameOf(row), row]))
  const fresh = places.filter((place) => !made.has(nameOf(place)))
  const counted = fresh.filter(({ isSystem }) => !isSystem)
  const born = counted.length === 0 ? 0 : await bornBefore(world, actor, counted.length)
  const room = Math.max(0, BIRTHS_MAX - born)
  const turnedAway = counted.slice(room)
  const rejected = new Set(turnedAway)
  const overflow = new Map<Place, Place>()
  if (turnedAway.length > 0) {
    const { collections } = await byName(world, actor.orgId)
    const known = new Set([...collections, ...fresh.filter((place) => !rejected.has(place)).map(({ collection }) => collection)])
    // A collection that is not there yet would be one too many as well.
    for (const place of turnedAway) overflow.set(place, overflowIn(known.has(place.collection) ? place.collection : DEFAULT))
  }
  const created = await insertAll(world, actor, [...fresh.filter((place) => !rejected.has(place)), ...overflow.values()])
  const rowOf = (place: Place): DatasetRow => made.get(nameOf(place)) ?? created.get(nameOf(place)) ?? missing(place)
  return new Map(
    places.map((place): [string, Ensured] => {
      const instead = overflow.get(place)
      if (!instead) return [nameOf(place), { row: rowOf(place) }]
      const isFirst = born <= BIRTHS_MAX && place === turnedAway[0]
      return [nameOf(place), { row: rowOf(instead), turnedAway: isFirst ? 'first' : 'again' }]
    }),
  )
}

/** bornBefore counts so many datasets more, and gives the number of this hour's before. */
async function bornBefore(world: Teller, actor: Actor, count: number): Promise<number> {
  const nowMs = world.clock.nowMs()
  const hourStartMs = nowMs - (nowMs % HOUR_MS)
  const counted = await countBirths(world.meta, actor.orgId, actor.identity.id, { hourStartMs, count })
  return (counted?.births ?? count) - count
}

/** forgetBirths drops the counts of hours that are over. */
export const forgetBirths = (world: Pick<World, 'meta' | 'clock'>): Promise<number> =>
  removeBirths(world.meta, world.clock.nowMs() - 2 * HOUR_MS)

const overflowIn = (collection: string): Place => ({ collection, dataset: OVERFLOW, tags: {}, isSystem: false })

type ByName = { datasets: ReadonlyMap<string, DatasetRow>; collections: ReadonlySet<string> }

const nameOf = ({ collection, dataset }: Pick<Place, 'collection' | 'dataset'>): string => `${collection}\0${dataset}`

const byName = (world: Pick<World, 'meta'>, orgId: string): Promise<ByName> =>
  world.meta.cached(orgId, 'datasets-by-name', async () => {
    const rows = await selectDatasets(world.meta, orgId)
    return { datasets: new Map(rows.map((row) => [nameOf(row), row])), collections: new Set(rows.map((row) => row.collection)) }
  })

/** insertAll creates the datasets and gives them by name; of two who do so at once the unique index lets one, and the other finds them. */
async function insertAll(world: Teller, actor: Actor, places: readonly Place[]): Promise<ReadonlyMap<string, DatasetRow>> {
  const wanted = [...new Map(places.map((place) => [nameOf(place), place])).values()]
  if (wanted.length === 0) return new Map()
  const nowMs = world.clock.nowMs()
  const rows = wanted.map(
    ({ collection, dataset, tags, isSystem }): DatasetRow => ({
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
    }),
  )
  return world.meta.write(actor.orgId, async (tx) => {
    const created = await insertDatasets(tx, rows)
    await recordChanges(
      world,
      tx,
      actor,
      created.map((row) => ({ entity: { type: 'dataset', id: row.id }, after: shownDataset(row) })),
    )
    const names = new Set(created.map(nameOf))
    const taken = wanted.filter((place) => !names.has(nameOf(place)))
    const others = taken.length === 0 ? [] : await selectDatasetsByName(tx, actor.orgId, taken)
    return new Map([...created, ...others].map((row) => [nameOf(row), row]))
  })
}

const capped = (tags: Tags): Tags => Object.fromEntries(Object.entries(tags).slice(0, TAGS_MAX))

/** addTags adds the tags that are missing, by the id of the dataset; one that is there stays as it is, or two senders would change it for ever. */
async function addTags(world: Teller, actor: Actor, wanted: ReadonlyMap<string, Tags>): Promise<ReadonlyMap<string, DatasetRow>> {
  if (wanted.size === 0) return new Map()
  return world.meta.write(actor.orgId, async (tx) => addTagsIn(world, tx, actor, wanted))
}

async function addTagsIn(world: Teller, tx: Db, actor: Actor, wanted: ReadonlyMap<string, Tags>): Promise<Map<string, DatasetRow>> {
  const before = new Map((await lockDatasets(tx, actor.orgId, [...wanted.keys()])).map((row) => [row.id, row]))
  const changed = [...before.values()].flatMap((row) => {
    const lacking = missingIn(row.tags, wanted.get(row.id) ?? {})
    return lacking.length === 0 ? [] : [{ id: row.id, tags: { ...row.tags, ...Object.fromEntries(lacking) } }]
  })
  if (changed.length === 0) return before
  const after = await updateDatasetsTags(tx, actor.orgId, changed, { atMs: world.clock.nowMs(), by: actor.identity })
  await recordChanges(
    world,
    tx,
    actor,
    after.flatMap((row) => {
      const old = before.get(row.id)
      return old ? [{ entity: { type: 'dataset', id: row.id }, before: shownDataset(old), after: shownDataset(row) }] : []
    }),
  )
  return new Map([...before, ...after.map((row) => [row.id, row] as const)])
}

function missingIn(has: Tags, wanted: Tags): [string, string][] {
  const room = TAGS_MAX - Object.keys(has).length
  return Object.entries(wanted)
    .filter(([name]) => !Object.hasOwn(has, name))
    .slice(0, Math.max(0, room))
}
