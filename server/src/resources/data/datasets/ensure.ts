import type { Tags } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { recordChanges } from '../../access/audit/audit.ts'
import { createdBy } from '../../records.ts'
import { allDatasets, shownDataset } from './listing.ts'
import {
  addToCreationCount,
  type DatasetRow,
  deleteCreationCounts,
  insertDatasets,
  lockDatasets,
  selectDatasetsByName,
  updateDatasetsTags,
} from './rows.ts'

/** The target dataset of events; only the service itself creates system datasets. */
export type DatasetRoute = { collection: string; dataset: string; tags: Tags; isSystem: boolean }

/** The dataset that events go to; `overLimit` is set when NEW_DATASETS_MAX was reached, with whether it is the first time in the hour. */
export type EnsuredDataset = { row: DatasetRow; overLimit?: 'first' | 'again' }

/** The number of datasets one identity may create in an hour: a wrong template must not ruin an installation. */
export const NEW_DATASETS_MAX = 100
const HOUR_MS = 3_600_000
const TAGS_MAX = 100
type EnsureWorld = Pick<World, 'clock' | 'ids' | 'meta'>

const OVERFLOW_DATASET = 'overflow'
const DEFAULT_COLLECTION = 'default'

/**
 * Finds or creates the dataset of each route, in the order of the routes; the first event creates its dataset. Missing tags are added to it. The
 * number of statements does not grow with the number of routes.
 */
export async function ensureDatasets(world: EnsureWorld, actor: Actor, routes: readonly DatasetRoute[]): Promise<EnsuredDataset[]> {
  const { datasets: known } = await byName(world, actor.orgId)
  const wanted = new Map(routes.map((route) => [nameOf(route), route]))
  const unknown = [...wanted].filter(([name]) => !known.has(name)).map(([, route]) => route)
  const created = unknown.length === 0 ? new Map<string, EnsuredDataset>() : await createShared(world, actor, unknown)
  const found = (route: DatasetRoute): EnsuredDataset => {
    const row = known.get(nameOf(route))
    const ensured = row ? { row } : created.get(nameOf(route))
    if (!ensured) throw new Error('a dataset was neither found nor created')
    return ensured
  }
  // An overflow dataset does not take over the tags of the others.
  const lacking = routes.filter((route) => {
    const { row, overLimit } = found(route)
    return overLimit === undefined && missingIn(row.tags, route.tags).length > 0
  })
  const tagged = await addTags(world, actor, new Map(lacking.map((route) => [found(route).row.id, route.tags])))
  const warned = new Set<string>()
  return routes.map((route) => {
    const { row, overLimit } = found(route)
    const now = tagged.get(row.id) ?? row
    if (overLimit === undefined) return { row: now }
    const isFirst = overLimit === 'first' && !warned.has(nameOf(route))
    warned.add(nameOf(route))
    return { row: now, overLimit: isFirst ? 'first' : 'again' }
  })
}

const creationsInProgress = new WeakMap<World['meta'], Map<string, Promise<EnsuredDataset>>>()

/** Lets concurrent requests for the same new dataset share its creation; counted separately they would use up the hourly limit. */
async function createShared(
  world: EnsureWorld,
  actor: Actor,
  routes: readonly DatasetRoute[],
): Promise<ReadonlyMap<string, EnsuredDataset>> {
  const shared = creationsInProgress.get(world.meta) ?? new Map<string, Promise<EnsuredDataset>>()
  creationsInProgress.set(world.meta, shared)
  const keyOf = (route: DatasetRoute): string => `${actor.orgId}/${actor.identity.id}/${nameOf(route)}`
  const others = routes.flatMap((route) => {
    const other = shared.get(keyOf(route))
    return other ? [[nameOf(route), other] as const] : []
  })
  const own = routes.filter((route) => !shared.has(keyOf(route)))
  const creating = own.length === 0 ? Promise.resolve(new Map<string, EnsuredDataset>()) : createAll(world, actor, own)
  for (const route of own) {
    const one = creating.then((all) => all.get(nameOf(route)) ?? missing(route))
    one.catch(() => undefined)
    shared.set(keyOf(route), one)
  }
  try {
    const created = new Map(await creating)
    for (const [name, other] of others) {
      const { row, overLimit } = await other
      created.set(name, overLimit ? { row, overLimit: 'again' } : { row })
    }
    return created
  } finally {
    for (const route of own) shared.delete(keyOf(route))
  }
}

function missing({ collection, dataset }: DatasetRoute): never {
  throw new Error(`the dataset ${collection}/${dataset} was neither created nor found`)
}

async function createAll(world: EnsureWorld, actor: Actor, routes: readonly DatasetRoute[]): Promise<ReadonlyMap<string, EnsuredDataset>> {
  // The cache may be older than what another process has created.
  const made = new Map((await selectDatasetsByName(world.meta, actor.orgId, routes)).map((row) => [nameOf(row), row]))
  const fresh = routes.filter((route) => !made.has(nameOf(route)))
  const counted = fresh.filter(({ isSystem }) => !isSystem)
  const earlier = counted.length === 0 ? 0 : await addToHourlyCount(world, actor, counted.length)
  const remaining = Math.max(0, NEW_DATASETS_MAX - earlier)
  const refused = counted.slice(remaining)
  const rejected = new Set(refused)
  const overflow = new Map<DatasetRoute, DatasetRoute>()
  if (refused.length > 0) {
    const { collections } = await byName(world, actor.orgId)
    const known = new Set([...collections, ...fresh.filter((route) => !rejected.has(route)).map(({ collection }) => collection)])
    // A new collection for the overflow would exceed the limit as well.
    for (const route of refused) overflow.set(route, overflowIn(known.has(route.collection) ? route.collection : DEFAULT_COLLECTION))
  }
  const created = await insertAll(world, actor, [...fresh.filter((route) => !rejected.has(route)), ...overflow.values()])
  const rowOf = (route: DatasetRoute): DatasetRow => made.get(nameOf(route)) ?? created.get(nameOf(route)) ?? missing(route)
  return new Map(
    routes.map((route): [string, EnsuredDataset] => {
      const instead = overflow.get(route)
      if (!instead) return [nameOf(route), { row: rowOf(route) }]
      const isFirst = earlier <= NEW_DATASETS_MAX && route === refused[0]
      return [nameOf(route), { row: rowOf(instead), overLimit: isFirst ? 'first' : 'again' }]
    }),
  )
}

/** Adds to the count of this hour and returns the number before. */
async function addToHourlyCount(world: EnsureWorld, actor: Actor, count: number): Promise<number> {
  const nowMs = world.clock.nowMs()
  const hourStartMs = nowMs - (nowMs % HOUR_MS)
  const counted = await addToCreationCount(world.meta, actor.orgId, actor.identity.id, { hourStartMs, count })
  return (counted?.created ?? count) - count
}

/** Deletes the counts of past hours. */
export const deleteOldCreationCounts = (world: Pick<World, 'meta' | 'clock'>): Promise<number> =>
  deleteCreationCounts(world.meta, world.clock.nowMs() - 2 * HOUR_MS)

const overflowIn = (collection: string): DatasetRoute => ({ collection, dataset: OVERFLOW_DATASET, tags: {}, isSystem: false })

type DatasetsByName = { datasets: ReadonlyMap<string, DatasetRow>; collections: ReadonlySet<string> }

const nameOf = ({ collection, dataset }: Pick<DatasetRoute, 'collection' | 'dataset'>): string => `${collection}\0${dataset}`

const byName = (world: Pick<World, 'meta'>, orgId: string): Promise<DatasetsByName> =>
  world.meta.cached(orgId, 'datasets-by-name', async () => {
    const rows = await allDatasets(world, orgId)
    return { datasets: new Map(rows.map((row) => [nameOf(row), row])), collections: new Set(rows.map((row) => row.collection)) }
  })

/** Creates the datasets and returns them by name. In a race the unique index lets one creator win, and the other finds its rows. */
async function insertAll(world: EnsureWorld, actor: Actor, routes: readonly DatasetRoute[]): Promise<ReadonlyMap<string, DatasetRow>> {
  const wanted = [...new Map(routes.map((route) => [nameOf(route), route])).values()]
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
      ...createdBy(actor, nowMs),
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
    const taken = wanted.filter((route) => !names.has(nameOf(route)))
    const others = taken.length === 0 ? [] : await selectDatasetsByName(tx, actor.orgId, taken)
    return new Map([...created, ...others].map((row) => [nameOf(row), row]))
  })
}

const capped = (tags: Tags): Tags => Object.fromEntries(Object.entries(tags).slice(0, TAGS_MAX))

/** Adds missing tags, by dataset id. Existing tags stay, otherwise two senders would overwrite each other forever. */
async function addTags(world: EnsureWorld, actor: Actor, wanted: ReadonlyMap<string, Tags>): Promise<ReadonlyMap<string, DatasetRow>> {
  if (wanted.size === 0) return new Map()
  return world.meta.write(actor.orgId, async (tx) => addTagsIn(world, tx, actor, wanted))
}

async function addTagsIn(world: EnsureWorld, tx: Db, actor: Actor, wanted: ReadonlyMap<string, Tags>): Promise<Map<string, DatasetRow>> {
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
  const remaining = TAGS_MAX - Object.keys(has).length
  return Object.entries(wanted)
    .filter(([name]) => !Object.hasOwn(has, name))
    .slice(0, Math.max(0, remaining))
}
