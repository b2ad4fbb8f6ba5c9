import { growLocated, type Located } from '../../events/catalog.ts'
import type { Observation } from '../../events/shred/slots.ts'
import type { Db } from '../../meta/meta.ts'
import type { World } from '../../world.ts'
import {
  insertSlotMap,
  insertSlots,
  lockSlotMap,
  type SlotMapRow,
  selectAllSlots,
  selectSlotMap,
  selectSlots,
  selectSlotsElsewhere,
  updateSlotMap,
} from './rows.ts'

/** locate says where the events of a dataset lie; undefined when it has none. */
export const locate = (world: Pick<World, 'meta'>, orgId: string, logId: string): Promise<Located | undefined> =>
  world.meta.cached(orgId, `slots:${logId}`, async () => {
    const row = await selectSlotMap(world.meta, orgId, logId)
    return row && readLocated(world.meta, orgId, logId, row)
  })

/** locateAll is `locate` for many datasets, in the same order; those that are not remembered are read in one statement. */
export async function locateAll(
  world: Pick<World, 'meta'>,
  orgId: string,
  logIds: readonly string[],
): Promise<readonly (Located | undefined)[]> {
  const missing: string[] = []
  let reading: Promise<ReadonlyMap<string, Located>> | undefined
  const readOne = async (logId: string) => {
    missing.push(logId)
    // The first one waits until all are known.
    reading ??= Promise.resolve().then(() => readAllLocated(world.meta, orgId, missing))
    return (await reading).get(logId)
  }
  return Promise.all(logIds.map((logId) => world.meta.cached(orgId, `slots:${logId}`, () => readOne(logId))))
}

/**
 * growSlots gives slots to keys that have none, before the first event that has them is stored. Whoever comes second, in whatever process,
 * finds what the first decided.
 */
export async function growSlots(
  world: Pick<World, 'meta'>,
  orgId: string,
  logId: string,
  observed: readonly Observation[],
): Promise<Located> {
  const known = await locate(world, orgId, logId)
  // With every slot taken there is nothing to decide, and nobody to ask.
  if (known && growLocated(known, observed, new Map()) === known) return known
  return world.meta.write(orgId, async (tx) => {
    await insertSlotMap(tx, orgId, logId)
    const row = await lockSlotMap(tx, orgId, logId)
    if (!row) throw new Error('a slot map is gone right after it was made')
    const before = row.version === 0 ? undefined : await readLocated(tx, orgId, logId, row)
    const paths = observed.map(({ path }) => path).filter((path) => !before?.map.slots.has(path))
    const elsewhere = new Map((await selectSlotsElsewhere(tx, orgId, logId, paths)).map(({ path, slot }) => [path, slot]))
    const grown = growLocated(before, observed, elsewhere)
    if (grown === before) return grown
    const fresh = [...grown.map.slots].filter(([path]) => !before?.map.slots.has(path)).map(([path, slot]) => ({ path, slot }))
    await insertSlots(tx, orgId, logId, grown.map.version, fresh)
    await updateSlotMap(tx, orgId, logId, { version: grown.map.version, table_classes: [...grown.classes] })
    return grown
  })
}

async function readAllLocated(db: Db, orgId: string, logIds: readonly string[]): Promise<ReadonlyMap<string, Located>> {
  const located = new Map<string, Located>()
  for (const { log_id, version, table_classes, paths, slots } of await selectAllSlots(db, orgId, logIds)) {
    const tableClass = table_classes.at(-1)
    if (tableClass === undefined) continue
    const map = {
      version,
      tableClass,
      slots: new Map(paths.flatMap((path, index) => (slots[index] === undefined ? [] : [[path, slots[index]]]))),
    }
    located.set(log_id, { map, classes: table_classes })
  }
  return located
}

async function readLocated(db: Db, orgId: string, logId: string, { version, table_classes }: SlotMapRow): Promise<Located | undefined> {
  const tableClass = table_classes.at(-1)
  if (tableClass === undefined) return undefined
  const rows = await selectSlots(db, orgId, logId)
  return { map: { version, tableClass, slots: new Map(rows.map(({ path, slot }) => [path, slot])) }, classes: table_classes }
}
