import { setImmediate } from 'node:timers/promises'
import { growLocated, type Located } from '../../events/catalog.ts'
import type { Observation } from '../../events/shred/slots.ts'
import type { World } from '../../world.ts'
import {
  insertSlotMaps,
  insertSlots,
  lockSlotMaps,
  type OwnedSlotMapRow,
  type OwnedSlotRow,
  type SlotMapRow,
  type SlotRow,
  selectSlotMaps,
  selectSlotsElsewhere,
  selectSlotsOf,
  updateSlotMaps,
} from './rows.ts'

/** locate says where the events of a dataset lie; undefined when it has none. */
export const locate = (world: Pick<World, 'meta'>, orgId: string, logId: string): Promise<Located | undefined> =>
  world.meta.cached(orgId, `slots:${logId}`, async () => (await loadTogether(world.meta, orgId, logId)).get(logId))

type Loading = { readonly logIds: string[]; readonly loaded: Promise<ReadonlyMap<string, Located>> }

const loadings = new WeakMap<World['meta'], Map<string, Loading>>()

/** loadTogether loads what is asked for at one moment in two statements, however many datasets it is about. */
function loadTogether(meta: World['meta'], orgId: string, logId: string): Loading['loaded'] {
  const own = loadings.get(meta) ?? new Map<string, Loading>()
  loadings.set(meta, own)
  const known = own.get(orgId)
  if (known) {
    known.logIds.push(logId)
    return known.loaded
  }
  const logIds = [logId]
  const loaded = setImmediate().then(() => {
    own.delete(orgId)
    return loadLocated(meta, orgId, logIds)
  })
  own.set(orgId, { logIds, loaded })
  return loaded
}

async function loadLocated(meta: World['meta'], orgId: string, logIds: readonly string[]): Promise<ReadonlyMap<string, Located>> {
  const maps = await selectSlotMaps(meta, orgId, logIds)
  if (maps.length === 0) return new Map()
  const slots = Map.groupBy(
    await selectSlotsOf(
      meta,
      orgId,
      maps.map(({ log_id }) => log_id),
    ),
    ({ log_id }) => log_id,
  )
  return new Map(
    maps.flatMap((row) => {
      const located = locatedOf(row, slots.get(row.log_id) ?? [])
      return located ? [[row.log_id, located] as const] : []
    }),
  )
}

/**
 * growSlots gives slots to keys that have none, by the id of the dataset, before the first event that has them is stored. Whoever comes second, in
 * whatever process, finds what the first decided. However many datasets there are, it takes a handful of statements.
 */
export async function growSlots(
  world: Pick<World, 'meta'>,
  orgId: string,
  observed: ReadonlyMap<string, readonly Observation[]>,
): Promise<void> {
  const lacking = new Map<string, readonly Observation[]>()
  const located = await Promise.all([...observed].map(async ([logId, keys]) => ({ logId, keys, known: await locate(world, orgId, logId) })))
  for (const { logId, keys, known } of located) {
    // With every slot taken there is nothing to decide, and nobody to ask.
    if (!known || growLocated(known, keys, new Map()) !== known) lacking.set(logId, keys)
  }
  if (lacking.size === 0) return
  await world.meta.write(orgId, async (tx) => {
    const logIds = [...lacking.keys()].sort()
    await insertSlotMaps(tx, orgId, logIds)
    const locked = await lockSlotMaps(tx, orgId, logIds)
    const slots = Map.groupBy(await selectSlotsOf(tx, orgId, logIds), ({ log_id }) => log_id)
    const paths = [...new Set([...lacking.values()].flatMap((keys) => keys.map(({ path }) => path)))]
    const elsewhere = new Map((await selectSlotsElsewhere(tx, orgId, logIds, paths)).map(({ path, slot }) => [path, slot]))
    const fresh: OwnedSlotRow[] = []
    const grownMaps: OwnedSlotMapRow[] = []
    for (const row of locked) {
      const before = row.version === 0 ? undefined : locatedOf(row, slots.get(row.log_id) ?? [])
      const grown = growLocated(before, lacking.get(row.log_id) ?? [], elsewhere)
      if (grown === before) continue
      for (const [path, slot] of grown.map.slots) {
        if (before?.map.slots.has(path)) continue
        fresh.push({ log_id: row.log_id, path, slot, version: grown.map.version })
        // The datasets of one post agree with each other as they do with those that were there before.
        if (!elsewhere.has(path)) elsewhere.set(path, slot)
      }
      grownMaps.push({ log_id: row.log_id, version: grown.map.version, table_classes: [...grown.classes] })
    }
    await insertSlots(tx, orgId, fresh)
    await updateSlotMaps(tx, orgId, grownMaps)
  })
}

function locatedOf({ version, table_classes }: SlotMapRow, rows: readonly SlotRow[]): Located | undefined {
  const tableClass = table_classes.at(-1)
  if (tableClass === undefined) return undefined
  return { map: { version, tableClass, slots: new Map(rows.map(({ path, slot }) => [path, slot])) }, classes: table_classes }
}
