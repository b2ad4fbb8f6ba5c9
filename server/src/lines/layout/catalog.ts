import { liesInOpenMap } from './open-maps.ts'
import {
  chooseTableClass,
  decideSlots,
  emptySlotMap,
  isProven,
  type Observation,
  PATH_CHARS_MAX,
  RARE_SHARE,
  SCARCE_SHARE,
  type Slot,
  type SlotMap,
} from './slots.ts'
import { type TableClass, tableClasses, tableClassNames } from './table.ts'

/**
 * The storage layout of a dataset: its table classes, the lengths of the periods by which its rows are sorted (periods.ts), and its slot map. New events are
 * stored in the class of the map. `ofEvents` are the attributes with a slot that describe single events, not their source.
 */
export type DatasetLayout = {
  readonly map: SlotMap
  readonly classes: readonly TableClass[]
  readonly periods: readonly number[]
  readonly ofEvents: ReadonlySet<string>
}

/**
 * Assigns slots to keys without one. Only keys that are known to recur move the dataset to a larger class. The slots of a smaller class
 * also exist in the larger ones, so no key changes its slot when a dataset moves up. Returns the same layout when nothing changes.
 */
export function growLayout(
  before: DatasetLayout | undefined,
  findings: LayoutFindings,
  sameNameElsewhere: ReadonlyMap<string, Slot>,
): DatasetLayout {
  const grown = withPeriod(growSlots(before, findings, sameNameElsewhere), findings.periodS)
  if (grown === before) return grown
  const fresh = (findings.ofEvents ?? []).filter((path) => grown.map.slots.has(path) && !before?.map.slots.has(path))
  return fresh.length === 0 ? grown : { ...grown, ofEvents: new Set([...grown.ofEvents, ...fresh]) }
}

function withPeriod(layout: DatasetLayout, periodS: number | undefined): DatasetLayout {
  if (periodS === undefined || layout.periods.includes(periodS)) return layout
  return { ...layout, periods: [...layout.periods, periodS], map: { ...layout.map, version: layout.map.version + 1 } }
}

function growSlots(
  before: DatasetLayout | undefined,
  { observed: all, open: found }: LayoutFindings,
  sameNameElsewhere: ReadonlyMap<string, Slot>,
): DatasetLayout {
  const open = before?.map.open ?? new Set()
  const allOpen = found.every((prefix) => open.has(prefix)) ? open : new Set([...open, ...found])
  const observed = all.filter((one) => !liesInOpenMap(allOpen, one.path) || (isProven(one) && !one.isScarce))
  if (!before) {
    const tableClass = chooseTableClass(observed)
    const map = decideSlots({ ...emptySlotMap(tableClass), open: allOpen }, observed, sameNameElsewhere)
    return { map: { ...map, version: 1 }, classes: [tableClass], periods: [], ofEvents: new Set() }
  }
  const withOpenMaps = allOpen === open ? before : { ...before, map: { ...before.map, open: allOpen, version: before.map.version + 1 } }
  const wanted = keysWorthSlots(withOpenMaps.map, observed)
  const map = decideSlots(withOpenMaps.map, wanted, sameNameElsewhere)
  const left = wanted.filter((one) => !map.slots.has(one.path) && isProven(one))
  const larger = left.length === 0 ? undefined : largerClass(map, left.length)
  if (!larger) return map === withOpenMaps.map ? withOpenMaps : { ...withOpenMaps, map }
  const grown = decideSlots({ ...map, tableClass: larger }, left, sameNameElsewhere)
  return { ...withOpenMaps, map: { ...grown, version: withOpenMaps.map.version + 1 }, classes: [...withOpenMaps.classes, larger] }
}

/**
 * The findings of shredding lines of a dataset: keys without a slot, open maps, which of the keys are attributes of single events, and the length of periods
 * for its next rows.
 */
export type LayoutFindings = {
  readonly observed: readonly Observation[]
  readonly open: readonly string[]
  readonly ofEvents?: readonly string[]
  readonly periodS?: number
}

/** Drops unproven keys when the free slots do not suffice, so that one event with hundreds of unique keys takes none. */
function keysWorthSlots({ tableClass, slots }: SlotMap, observed: readonly Observation[]): readonly Observation[] {
  const fresh = observed.filter(({ path }) => !slots.has(path) && path.length <= PATH_CHARS_MAX)
  const { cSlots, sSlots } = tableClasses[tableClass]
  return fresh.length <= cSlots + sSlots - slots.size ? fresh : fresh.filter(isProven)
}

/** Counts keys without a slot over all posts of a dataset: a key that is rare in one post may be in every later one. */
export class OverflowKeys {
  #rows = 0
  #keys = new Map<string, Observation>()

  /** Adds a post's observations provisionally (note makes them permanent) and marks rare keys. */
  withMore(rows: number, more: Iterable<Observation>): Observation[] {
    const total = this.#rows + rows
    const all = [...more].map((one) => sumOf(this.#keys.get(one.path), one))
    return all.map((one) => ({ ...one, isRare: one.count < RARE_SHARE * total, isScarce: one.count < SCARCE_SHARE * total }))
  }

  note(rows: number, more: Iterable<Observation>): void {
    this.#rows += rows
    for (const one of more) this.#keys.set(one.path, sumOf(this.#keys.get(one.path), one))
    if (this.#keys.size <= OVERFLOW_KEYS_MAX && this.#rows <= OVERFLOW_ROWS_MAX) return
    this.#keys = new Map()
    this.#rows = 0
  }
}

/** Bounds of the counters; beyond them counting restarts. */
const OVERFLOW_KEYS_MAX = 2_000
const OVERFLOW_ROWS_MAX = 100_000

/** Adds two observations. Values that occur in both count twice, which is precise enough. */
export const sumOf = (known: Observation | undefined, { path, count, distinct }: Observation): Observation => ({
  path,
  count: count + (known?.count ?? 0),
  distinct: distinct + (known?.distinct ?? 0),
})

/** Returns the smallest larger class that can hold `more` additional keys. */
function largerClass({ tableClass, slots }: SlotMap, more: number): TableClass | undefined {
  const larger = tableClassNames.slice(tableClassNames.indexOf(tableClass) + 1)
  const holds = (name: TableClass) => tableClasses[name].cSlots + tableClasses[name].sSlots >= slots.size + more
  return larger.find(holds) ?? larger.at(-1)
}
