import { growLocated, type Located } from '../../events/catalog.ts'
import type { Observation } from '../../events/shred/slots.ts'
import type { Db } from '../../meta/meta.ts'
import type { World } from '../../world.ts'
import {
  type FullSlotMapRow,
  insertSlotMap,
  insertSlots,
  lockSlotMap,
  type SlotMapRow,
  type SlotRow,
  selectSlotMaps,
  selectSlots,
  selectSlotsElsewhere,
  updateSlotMap,
} from './rows.ts'

/** locate says where the events of a dataset lie; undefined when it has none. */
export const locate = (world: Pick<World, 'meta'>, orgId: string, logId: string): Promise<Located | undefined> =>
  locateAll(world, orgId, [logId]).then(([located]) => located)

/** locateAll says it of many datasets, in their order; what is not remembered is read by one statement. */
export const locateAll = (world: Pick<World, 'meta'>, orgId: string, logIds: readonly string[]): Promise<(Located | undefined)[]> =>
  world.meta.cachedEach(
    orgId,
    logIds,
    (logId) => `slots:${logId}`,
    async (missing) => new Map((await selectSlotMaps(world.meta, orgId, missing)).flatMap(locatedIn)),
    (logId) => ({ slot_maps: logId }),
  )

function locatedIn({ log_id, paths, slots, ...row }: FullSlotMapRow): (readonly [string, Located])[] {
  const rows = slots.map((slot, at) => ({ path: paths[at] ?? '', slot }))
  const located = locatedFrom(row, rows)
  return located ? [[log_id, located]] : []
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

const readLocated = async (db: Db, orgId: string, logId: string, row: SlotMapRow): Promise<Located | undefined> =>
  locatedFrom(row, await selectSlots(db, orgId, logId))

function locatedFrom({ version, table_classes }: SlotMapRow, rows: readonly SlotRow[]): Located | undefined {
  const tableClass = table_classes.at(-1)
  if (tableClass === undefined) return undefined
  return { map: { version, tableClass, slots: new Map(rows.map(({ path, slot }) => [path, slot])) }, classes: table_classes }
}
