import type { Block } from '../../events/writer/post.ts'
import { growLayout, OverflowKeys, sumOf } from '../../lines/catalog.ts'
import { observe } from '../../lines/observe.ts'
import { Shredder } from '../../lines/shred.ts'
import type { Observation, SlotMap } from '../../lines/slots.ts'
import { countsOf } from './counting.ts'
import type { EventLine } from './line.ts'
import type { CountedBlock, Shredded, ShredTarget } from './worker-messages.ts'

/** So many lines of a new dataset decide which slots its keys get. */
const OBSERVED_LINES = 2_000
/** The approximate size of a block: small blocks compress worse, large ones use memory. */
const BLOCK_BYTES = 8 * 2 ** 20
/** Bounds the line objects in memory while lines are split: a worker that runs out of memory would end the service. */
const BLOCK_ROWS = 50_000
/** The number of datasets whose shredders a worker keeps. */
const SHREDDERS_MAX = 128

type Habits = { readonly shredder: Shredder; readonly strange: OverflowKeys }

/** Caches the shredders of the most recently used datasets with the shapes they have learned. */
export class Shredders {
  readonly #known = new Map<string, Habits>()
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** Turns the lines of a batch into blocks, or first requests slots for new keys. */
  shred(lines: Iterable<EventLine>, target: ShredTarget): Shredded {
    const { batch: delivery, map } = target
    const source = lines[Symbol.iterator]()
    if (!map) return { kind: 'keys', delivery, ...observe(nextLines(source, OBSERVED_LINES)) }
    const { shredder, strange } = this.#of(target.logId, map)
    try {
      const blocks: CountedBlock[] = []
      const unplaced = new Map<string, Observation>()
      let rows = 0
      for (let part = nextLines(source, BLOCK_ROWS); part.length > 0; part = nextLines(source, BLOCK_ROWS)) {
        for (const line of part) shredder.addLine(line.bytes, line.arrival, line.detected)
        rows += part.length
        for (const one of shredder.unplaced()) unplaced.set(one.path, sumOf(unplaced.get(one.path), one))
        blocks.push(...takeByDay(shredder, part, target, map))
      }
      const found = { observed: strange.withMore(rows, unplaced.values()), open: shredder.openMaps() }
      const located = { map, classes: [map.tableClass] }
      if (!target.isLast && growLayout(located, found, new Map()) !== located) return { kind: 'keys', delivery, ...found }
      strange.note(rows, unplaced.values())
      return { kind: 'blocks', delivery, blocks, rows }
    } catch (cause) {
      this.#known.delete(target.logId)
      throw cause
    }
  }

  #of(logId: string, map: SlotMap): Habits {
    let habits = this.#known.get(logId)
    this.#known.delete(logId)
    if (habits?.shredder.slotMap.tableClass !== map.tableClass) {
      habits = { shredder: new Shredder(map, { random: this.#random }), strange: habits?.strange ?? new OverflowKeys() }
    }
    habits.shredder.useSlots(map)
    this.#known.set(logId, habits)
    const oldest = this.#known.keys().next()
    if (this.#known.size > SHREDDERS_MAX && !oldest.done) this.#known.delete(oldest.value)
    return habits
  }
}

/** Takes the lines of the next block; none when the source is empty. */
function nextLines(source: Iterator<EventLine>, rowsMax: number): EventLine[] {
  const lines: EventLine[] = []
  for (let bytes = 0; bytes < BLOCK_BYTES && lines.length < rowsMax; ) {
    const next = source.next()
    if (next.done) break
    lines.push(next.value)
    bytes += next.value.bytes.length
  }
  return lines
}

/** Returns one block for each day. Lines of more than one day are added again, day by day. */
function takeByDay(shredder: Shredder, lines: readonly EventLine[], target: ShredTarget, map: SlotMap): CountedBlock[] {
  const days = Array.from(shredder.days())
  const distinct = [...new Set(days)].sort((a, b) => a - b)
  const [only] = distinct
  if (only === undefined) return []
  if (distinct.length === 1) return [takeBlock(shredder, only, lines, target, map)]
  const byDay = Map.groupBy(lines, (_, row) => days[row] ?? only)
  shredder.discard()
  return distinct.map((day) => {
    const own = byDay.get(day) ?? []
    for (const line of own) shredder.addLine(line.bytes, line.arrival, line.detected)
    return takeBlock(shredder, day, own, target, map)
  })
}

function takeBlock(
  shredder: Shredder,
  day: number,
  lines: readonly EventLine[],
  { orgNumber, logId }: ShredTarget,
  { tableClass }: SlotMap,
): CountedBlock {
  const columns = shredder.take({ orgId: orgNumber, logId })
  const bytes = columns.reduce((sum, column) => sum + column.bytes.length, 0)
  return { tableClass, day, rows: lines.length, columns, bytes, counts: countsOf(lines, columns) }
}

/** The memory of the blocks, to be transferred instead of copied. */
export const buffersOf = (blocks: readonly Block[]): ArrayBuffer[] => [
  ...new Set(blocks.flatMap(({ columns }) => columns.map(({ bytes }) => bytes.buffer as ArrayBuffer))),
]
