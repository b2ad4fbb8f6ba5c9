import { type TableClass, tableClasses, tableClassNames } from './table.ts'

/** A column for the values of one path: `c…` for values that repeat, `s…` for the others. */
export type Slot = `c${number}` | `s${number}`

/** Maps the paths of one dataset to slots. It only grows; values without a slot go to the overflow map. */
export type SlotMap = {
  /** Increases by one each time the map grows. */
  readonly version: number
  readonly tableClass: TableClass
  readonly slots: ReadonlyMap<string, Slot>
  /** The prefixes of open maps (parts.ts); '' is the whole line. */
  readonly open: ReadonlySet<string>
}

/**
 * How often a path was seen, and with how many distinct values (counted up to DISTINCT_MAX). `isRare` means that few events have it. `isScarce`
 * means that too few events have it for a slot if it lies in an open map.
 */
export type Observation = {
  readonly path: string
  readonly count: number
  readonly distinct: number
  readonly isRare?: boolean
  readonly isScarce?: boolean
}

export const DISTINCT_MAX = 1_000
const DISTINCT_SHARE_MAX = 0.15
/** Below this count the share of distinct values is meaningless, and the name of the key decides. */
const FEW_VALUES = 24
/** The longest key that a query can name; longer ones are stored in `more`. */
export const PATH_CHARS_MAX = 256
/** The free slots that a class should have beyond those needed today. */
const SPARE = 1.25
/** Keys in a smaller share of the events do not make a table larger, since every column costs every event; they only use free slots. */
export const RARE_SHARE = 0.03
/** A key in this many events is proven to belong to its dataset. A single unusual event proves nothing. */
export const PROVEN_COUNT = 24

/** A key of an open map gets a slot only if at least this share of the events has it. */
export const SCARCE_SHARE = 0.25

export const emptySlotMap = (tableClass: TableClass): SlotMap => ({ version: 0, tableClass, slots: new Map(), open: new Set() })

/**
 * Returns the smallest class that holds the observed keys, except rare ones, since unused slots cost time. Only proven keys lead to the
 * largest class.
 */
export function chooseTableClass(observed: readonly Observation[]): TableClass {
  const countMin = RARE_SHARE * observed.reduce((most, { count }) => Math.max(most, count), 0)
  const frequent = observed.filter(({ count }) => count >= countMin)
  const chosen = smallestFor(frequent)
  return chosen === 'l' && smallestFor(frequent.filter(isProven)) !== 'l' ? 'm' : chosen
}

export const isProven = ({ count, isRare }: Observation): boolean => count >= PROVEN_COUNT && !isRare

function smallestFor(frequent: readonly Observation[]): TableClass {
  const rest = frequent.filter((observation) => !isRepetitive(observation)).length
  const fitting = tableClassNames.find((name) => {
    const { cSlots, sSlots } = tableClasses[name]
    return rest * SPARE <= sSlots && frequent.length * SPARE <= cSlots + sSlots
  })
  return fitting ?? 'l'
}

/**
 * Assigns slots to keys that have none. A key takes the slot that its name has elsewhere in the organization when that slot is free, so
 * that a query over many datasets needs few branches; other keys avoid such slots while they can. Returns the same map when nothing
 * changes.
 */
export function decideSlots(map: SlotMap, observed: readonly Observation[], sameNameElsewhere: ReadonlyMap<string, Slot>): SlotMap {
  const slots = new Map(map.slots)
  const taken = new Set(slots.values())
  const assign = (path: string, slot: Slot | undefined) => {
    if (slot === undefined || taken.has(slot)) return
    slots.set(path, slot)
    taken.add(slot)
  }
  const fresh = observed.filter(({ path }) => !slots.has(path) && path.length <= PATH_CHARS_MAX).sort(mostSeenFirst)
  for (const { path } of fresh) {
    const slot = sameNameElsewhere.get(path)
    if (slot !== undefined && isIn(map.tableClass, slot)) assign(path, slot)
  }
  const elsewhere = new Set(sameNameElsewhere.values())
  for (const observation of fresh) {
    if (slots.has(observation.path)) continue
    const free = freeSlots(map.tableClass, observation, taken)
    assign(observation.path, free.find((slot) => !elsewhere.has(slot)) ?? free[0])
  }
  return slots.size === map.slots.size ? map : { ...map, version: map.version + 1, slots }
}

/** Ties are broken by name, so that the same observations in another order give the same map. */
const mostSeenFirst = (a: Observation, b: Observation): number => b.count - a.count || (a.path < b.path ? -1 : 1)

/** The free slots for a key. Repeated values may take slots of the other kind when their own are used up, but not the reverse. */
function freeSlots(tableClass: TableClass, observation: Observation, taken: ReadonlySet<Slot>): Slot[] {
  const free = (kind: 'c' | 's') => allSlots(tableClass, kind).filter((slot) => !taken.has(slot))
  const own = isRepetitive(observation) ? free('c') : []
  return own.length > 0 ? own : free('s')
}

function allSlots(tableClass: TableClass, kind: 'c' | 's'): Slot[] {
  const { cSlots, sSlots } = tableClasses[tableClass]
  return Array.from({ length: kind === 'c' ? cSlots : sSlots }, (_, index): Slot => `${kind}${index}`)
}

function isIn(tableClass: TableClass, slot: Slot): boolean {
  const { cSlots, sSlots } = tableClasses[tableClass]
  return Number(slot.slice(1)) < (slot.startsWith('c') ? cSlots : sSlots)
}

function isRepetitive({ path, count, distinct }: Observation): boolean {
  if (count < FEW_VALUES) return repetitiveNames.has(lastName(path))
  return distinct < count * DISTINCT_SHARE_MAX && distinct < DISTINCT_MAX
}

const lastName = (path: string): string => path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf('$')) + 1).toLowerCase()

/** Final parts of keys whose values usually repeat. They matter only for datasets that begin with a few events. */
const repetitiveNames = new Set(
  (
    'level severity lvl levelname loglevel logger service host hostname env environment region zone cluster namespace app application ' +
    'component module version source stream facility method status status_code statuscode code protocol scheme type kind action category ' +
    'team tenant role channel name container node platform os arch language lang country currency sampled enabled success'
  ).split(' '),
)

/** A slot map in JSON. It holds pairs because a key may have any name. */
export type SavedSlotMap = { version: number; table_class: TableClass; slots: [path: string, slot: Slot][]; open: string[] }

export const saveSlotMap = ({ version, tableClass, slots, open }: SlotMap): SavedSlotMap => ({
  version,
  table_class: tableClass,
  slots: [...slots],
  open: [...open],
})
export const loadSlotMap = ({ version, table_class, slots, open }: SavedSlotMap): SlotMap => ({
  version,
  tableClass: table_class,
  slots: new Map(slots),
  open: new Set(open),
})
