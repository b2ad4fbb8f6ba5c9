import {
  chooseTableClass,
  decideSlots,
  emptySlotMap,
  isProven,
  type Observation,
  PATH_CHARS_MAX,
  RARE_SHARE,
  type Slot,
  type SlotMap,
} from './slots.ts'
import { type TableClass, tableClasses, tableClassNames } from './table.ts'

/** Located says where the events of a dataset lie: every class of table that has some, and the slots of keys; new events go to the map's class. */
export type Located = { readonly map: SlotMap; readonly classes: readonly TableClass[] }

/**
 * growLocated makes room for keys that have no slot yet, in a larger class only for keys that are known to come again. The slots of a smaller class are slots of the larger ones too, so a dataset that
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
  const wanted = worthRoom(located.map, observed)
  const map = decideSlots(located.map, wanted, sameNameElsewhere)
  const left = wanted.filter((one) => !map.slots.has(one.path) && isProven(one))
  const larger = left.length === 0 ? undefined : largerClass(map, left.length)
  if (!larger) return map === located.map ? located : { ...located, map }
  const grown = decideSlots({ ...map, tableClass: larger }, left, sameNameElsewhere)
  return { map: { ...grown, version: located.map.version + 1 }, classes: [...located.classes, larger] }
}

/** worthRoom leaves out keys that are not known to come again where there is not room for all of them: an event with hundreds of keys that no other has takes none. */
function worthRoom({ tableClass, slots }: SlotMap, observed: readonly Observation[]): readonly Observation[] {
  const fresh = observed.filter(({ path }) => !slots.has(path) && path.length <= PATH_CHARS_MAX)
  const { cSlots, sSlots } = tableClasses[tableClass]
  return fresh.length <= cSlots + sSlots - slots.size ? fresh : fresh.filter(isProven)
}

/** StrangeKeys counts the keys of a dataset that have no slot, over all its posts: what is rare in one event may be in all that follow. */
export class StrangeKeys {
  #rows = 0
  #keys = new Map<string, Observation>()

  /** withMore adds what the events of a further post show, which counts for good only when it is noted, and tells which keys few of all events have. */
  withMore(rows: number, more: Iterable<Observation>): Observation[] {
    const countMin = RARE_SHARE * (this.#rows + rows)
    const all = [...more].map((one) => sumOf(this.#keys.get(one.path), one))
    return all.map((one) => ({ ...one, isRare: one.count < countMin }))
  }

  note(rows: number, more: Iterable<Observation>): void {
    this.#rows += rows
    for (const one of more) this.#keys.set(one.path, sumOf(this.#keys.get(one.path), one))
    if (this.#keys.size <= STRANGE_KEYS_MAX && this.#rows <= STRANGE_ROWS_MAX) return
    this.#keys = new Map()
    this.#rows = 0
  }
}

/** STRANGE_KEYS_MAX and STRANGE_ROWS_MAX bound what is remembered; beyond them counting begins anew. */
const STRANGE_KEYS_MAX = 2_000
const STRANGE_ROWS_MAX = 100_000

/** sumOf adds up two parts; values that occur in both are counted twice, which is near enough. */
export const sumOf = (known: Observation | undefined, { path, count, distinct }: Observation): Observation => ({
  path,
  count: count + (known?.count ?? 0),
  distinct: distinct + (known?.distinct ?? 0),
})

/** largerClass is the smallest class beyond the map's that should hold so many more keys. */
function largerClass({ tableClass, slots }: SlotMap, more: number): TableClass | undefined {
  const larger = tableClassNames.slice(tableClassNames.indexOf(tableClass) + 1)
  const holds = (name: TableClass) => tableClasses[name].cSlots + tableClasses[name].sSlots >= slots.size + more
  return larger.find(holds) ?? larger.at(-1)
}
