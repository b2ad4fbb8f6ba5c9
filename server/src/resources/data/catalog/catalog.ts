import { type DatasetLayout, growLayout, type LayoutFindings } from '../../../lines/layout/catalog.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import {
  type FullSlotMapRow,
  insertSlotMaps,
  insertSlots,
  lockSlotMaps,
  noteSlotMaps,
  type OwnedSlotMapRow,
  type OwnedSlotRow,
  type SlotMapRow,
  type SlotRow,
  selectSlotMaps,
  selectSlotsElsewhere,
  selectSlotsOf,
  updateSlotMaps,
} from './rows.ts'

/** The storage layout of a dataset; undefined if it has no slots. */
export const locate = (world: Pick<World, 'meta'>, orgId: string, logId: string): Promise<DatasetLayout | undefined> =>
  locateAll(world, orgId, [logId]).then(([located]) => located)

/** The layouts of many datasets, in their order; those not cached are read with one statement. */
export const locateAll = (world: Pick<World, 'meta'>, orgId: string, logIds: readonly string[]): Promise<(DatasetLayout | undefined)[]> =>
  world.meta.cachedEach(
    orgId,
    logIds,
    (logId) => `slots:${logId}`,
    async (missing) => new Map((await selectSlotMaps(world.meta, orgId, missing)).flatMap(locatedIn)),
    (logId) => ({ slot_maps: logId }),
  )

function locatedIn({ log_id, paths, slots, of_events, ...row }: FullSlotMapRow): (readonly [string, DatasetLayout])[] {
  const rows = slots.map((slot, at) => ({ path: paths[at] ?? '', slot, of_events: of_events[at] === true }))
  const located = locatedOf(row, rows)
  return located ? [[log_id, located]] : []
}

/**
 * Assigns slots to new keys and records open maps, by dataset id, before the first event with them is stored. A concurrent process finds the
 * decisions of the first. The number of statements does not grow with the number of datasets.
 */
export async function growLayouts(world: Pick<World, 'meta'>, orgId: string, found: ReadonlyMap<string, LayoutFindings>): Promise<void> {
  const lacking = new Map<string, LayoutFindings>()
  const known = await locateAll(world, orgId, [...found.keys()])
  for (const [at, [logId, keys]] of [...found].entries()) {
    const located = known[at]
    // If every slot is taken there is nothing to assign.
    if (!located || growLayout(located, keys, new Map()) !== located) lacking.set(logId, keys)
  }
  if (lacking.size === 0) return
  await world.meta.write(orgId, async (tx) => {
    const logIds = [...lacking.keys()].sort()
    await insertSlotMaps(tx, orgId, logIds)
    const locked = await lockSlotMaps(tx, orgId, logIds)
    const slots = Map.groupBy(await selectSlotsOf(tx, orgId, logIds), ({ log_id }) => log_id)
    const paths = [...new Set([...lacking.values()].flatMap(({ observed }) => observed.map(({ path }) => path)))]
    const elsewhere = new Map((await selectSlotsElsewhere(tx, orgId, logIds, paths)).map(({ path, slot }) => [path, slot]))
    const fresh: OwnedSlotRow[] = []
    const grownMaps: OwnedSlotMapRow[] = []
    const decidedElsewhere: string[] = []
    for (const row of locked) {
      const before = row.version === 0 ? undefined : locatedOf(row, slots.get(row.log_id) ?? [])
      const grown = growLayout(before, lacking.get(row.log_id) ?? { observed: [], open: [] }, elsewhere)
      if (grown === before) {
        decidedElsewhere.push(row.log_id)
        continue
      }
      for (const [path, slot] of grown.map.slots) {
        if (before?.map.slots.has(path)) continue
        fresh.push({ log_id: row.log_id, path, slot, version: grown.map.version, of_events: grown.ofEvents.has(path) })
        // The datasets of one post agree with each other as they do with those that were there before.
        if (!elsewhere.has(path)) elsewhere.set(path, slot)
      }
      grownMaps.push({
        log_id: row.log_id,
        version: grown.map.version,
        table_classes: [...grown.classes],
        periods: [...grown.periods],
        open_maps: [...grown.map.open],
      })
    }
    await insertSlots(tx, orgId, fresh)
    await updateSlotMaps(tx, orgId, grownMaps)
    await noteSlotMaps(tx, orgId, decidedElsewhere)
  })
}

/** Gives a new dataset the layout of another one, whose stored events it is about to get. */
export async function insertLayout(
  tx: Db,
  orgId: string,
  logId: string,
  { slots, ...map }: SlotMapRow & { slots: readonly (SlotRow & { version: number })[] },
): Promise<void> {
  await insertSlotMaps(tx, orgId, [logId])
  await insertSlots(
    tx,
    orgId,
    slots.map((slot) => ({ ...slot, log_id: logId })),
  )
  await updateSlotMaps(tx, orgId, [{ ...map, log_id: logId }])
}

function locatedOf({ version, table_classes, periods, open_maps }: SlotMapRow, rows: readonly SlotRow[]): DatasetLayout | undefined {
  const tableClass = table_classes.at(-1)
  if (tableClass === undefined) return undefined
  const slots = new Map(rows.map(({ path, slot }) => [path, slot]))
  const ofEvents = new Set(rows.filter(({ of_events }) => of_events).map(({ path }) => path))
  return { map: { version, tableClass, slots, open: new Set(open_maps) }, classes: table_classes, periods, ofEvents }
}
