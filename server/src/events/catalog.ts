import { chooseTableClass, decideSlots, emptySlotMap, type Observation, PATH_CHARS_MAX, type Slot, type SlotMap } from './shred/slots.ts'
import { type TableClass, tableClasses, tableClassNames } from './table.ts'

/** Located says where the events of a dataset lie: every class of table that has some, and the slots of keys; new events go to the map's class. */
export type Located = { readonly map: SlotMap; readonly classes: readonly TableClass[] }

/**
 * growLocated makes room for keys that have no slot yet. The slots of a smaller class are slots of the larger ones too, so a dataset that
 * outgrows its class goes on in a larger one without a key changing its slot. What was located comes back as it is when nothing is new.
 */
export function growLocated(
  located: Located | undefined,
  observed: readonly Observation[],
  sameNameElsewhere: ReadonlyMap<string, Slot>,
): Located {
  if (!located) {
    const tableClass = chooseTableClass(observed)
    return { map: { ...decideSlots(emptySlotMap(tableClass), observed, sameNameElsewhere), version: 1 }, classes: [tableClass] }
  }
  const map = decideSlots(located.map, observed, sameNameElsewhere)
  const left = observed.filter(({ path }) => !map.slots.has(path) && path.length <= PATH_CHARS_MAX)
  const larger = left.length === 0 ? undefined : largerClass(map, left.length)
  if (!larger) return map === located.map ? located : { ...located, map }
  const grown = decideSlots({ ...map, tableClass: larger }, left, sameNameElsewhere)
  return { map: { ...grown, version: located.map.version + 1 }, classes: [...located.classes, larger] }
}

/** largerClass is the smallest class beyond the map's that should hold so many more keys. */
function largerClass({ tableClass, slots }: SlotMap, more: number): TableClass | undefined {
  const larger = tableClassNames.slice(tableClassNames.indexOf(tableClass) + 1)
  const holds = (name: TableClass) => tableClasses[name].cSlots + tableClasses[name].sSlots >= slots.size + more
  return larger.find(holds) ?? larger.at(-1)
}
