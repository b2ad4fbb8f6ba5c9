import { deepStrictEqual, strictEqual } from 'node:assert'
import { hashToBigint } from '../../patterns/skeleton.ts'
import { NativeReader } from '../block/native-rows.fixture.ts'
import { emptySlotMap, type Slot, type SlotMap } from '../layout/slots.ts'
import { severities } from '../layout/table.ts'
import { Shredder } from '../shredder/shred.ts'
import { toNs } from '../values/time-text.ts'
import type { Arrival, EventRow } from './event.ts'
import { family, hostileLine, type Random, randomFrom } from './generated-lines.fixture.ts'
import type { MessageReader } from './reference.ts'
import { rebuildRow, shred } from './reference.ts'
import type { FoundText } from './text-line.ts'

/**
 * Compares the shredder with the reference row by row, through the encoded block. Used by the tests and by the long run in
 * bench/shred-nightly.ts.
 */
export const numbers = { orgId: 7, logId: '00112233-4455-6677-8899-aabbccddeeff', firstSeq: 2n ** 62n }
export const arrival: Arrival = { at: { ms: Date.UTC(2024, 4, 2), ns: 17 }, attributes: [], origin: '10.0.0.1', post: 0n }

/** A row as read from a block, without empty slots. */
export type Row = Record<string, unknown>

export const latin1 = (text: string | Uint8Array): string => Buffer.from(text).toString('latin1')

/** Adds lines to a shredder as one block and throws when a row differs from the reference. */
export function compareWithReference(shredder: Shredder, lines: readonly Uint8Array[], map: SlotMap, given: Arrival): void {
  for (const line of lines) shredder.addLine(new Uint8Array(line), given)
  compareAddedLines(
    shredder,
    lines.map((line) => ({ line })),
    map,
    given,
  )
}

export type TextLineCase = { line: Uint8Array; found?: FoundText | undefined }

/** The same for text lines, of which `found` are what detection finds. It also throws when a line does not rebuild. */
export function compareTextLines(shredder: Shredder, lines: readonly TextLineCase[], map: SlotMap, given: Arrival): void {
  // Workers hold lines as plain byte arrays.
  for (const { line, found } of lines) {
    const bytes = new Uint8Array(line)
    if (!shredder.addText(bytes, 0, bytes.length, given)) shredder.addLine(bytes, given, found)
  }
  compareAddedLines(shredder, lines, map, given)
}

/** The same for lines that a shredder has. */
export function compareAddedLines(
  shredder: Shredder,
  lines: readonly TextLineCase[],
  map: SlotMap,
  given: Arrival,
  messages?: MessageReader,
): void {
  const rows = rowsOf(shredder.flush(numbers))
  strictEqual(rows.length, lines.length)
  for (const [index, { line, found }] of lines.entries()) {
    const row = shred(line, map, given, { found, messages })
    const said = `line ${JSON.stringify(latin1(line))}`
    deepStrictEqual(rows[index], expected(row, index, given), said)
    strictEqual(latin1(rebuildRow(row)), latin1(line), said)
  }
  strictEqual(shredder.ledger.failures, 0)
}

/** Tests JSON lines whose messages are read, block after block with one shredder. */
export function compareMessages(
  shredder: Shredder,
  lines: readonly Uint8Array[],
  map: SlotMap,
  given: Arrival,
  messages: MessageReader,
): void {
  for (const line of lines) shredder.addLine(new Uint8Array(line), given)
  compareAddedLines(
    shredder,
    lines.map((line) => ({ line })),
    map,
    given,
    messages,
  )
}

/** Tests lines of any kind. */
export function compareHostileLines(seed: number, count: number): void {
  const chance = randomFrom(seed)
  const map = randomMap(chance)
  const lines = Array.from({ length: count }, () => hostileLine(chance))
  compareWithReference(new Shredder(map, { random: () => 0.5 }), lines, map, randomArrival(chance))
}

/** Tests lines as programs write them, block after block with one shredder. */
export function compareFamilies(seed: number, blocks: number, count: number): void {
  const chance = randomFrom(seed)
  const map = randomMap(chance)
  const families = Array.from({ length: 1 + chance.below(3) }, () => family(chance))
  const shredder = new Shredder(map, { random: () => 0.5 })
  for (let block = 0; block < blocks; block += 1) {
    const lines = Array.from({ length: count }, () => chance.pick(families)())
    compareWithReference(shredder, lines, map, chance.chance(0.5) ? arrival : randomArrival(chance))
  }
}

export function randomMap(chance: Random): SlotMap {
  const slots = new Map<string, Slot>()
  for (const [index, path] of ['a', 'b', 'level', 'message', 'x', 'a.b', 'timestamp', '$a'].entries()) {
    if (chance.chance(0.5)) slots.set(path, `${chance.pick(['c', 's'] as const)}${index}`)
  }
  const open = chance.chance(0.5) ? ['', 'a.', 'b.', 'x.', 'y.', 'http.', 'user.', 'a.a.', 'a.b.'].filter(() => chance.chance(0.4)) : []
  return { ...emptySlotMap('s'), slots, open: new Set(open) }
}

export function randomArrival(chance: Random): Arrival {
  const attributes = ['$host', '$a', 'level', 'severity', 'message', 'x', '$ingest.original_time'].filter(() => chance.chance(0.1))
  return {
    ...arrival,
    attributes: attributes.map((path) => ({ path, text: chance.pick(['', 'error', 'h\0', 'took 12 ms']) })),
    ...(chance.chance(0.2) ? { time: { ms: Date.UTC(chance.pick([1999, 2024, 2030]), 4, 1, 10, 20, 30), ns: 5 } } : {}),
    ...(chance.chance(0.1) ? { severity: 'fatal' as const } : {}),
    post: BigInt(chance.below(2)) * 0x1234_5678_9abc_def0n,
  }
}

/** The row that the reference gives, in the types of the block. */
function expected(row: EventRow, index: number, given: Arrival): Row {
  return {
    org_id: numbers.orgId,
    log_id: numbers.logId.replaceAll('-', ''),
    ts: toNs(row.time),
    seq: numbers.firstSeq + BigInt(index),
    sev: severities[row.severity],
    origin: given.origin,
    skeleton: hashToBigint(row.skeleton),
    post: given.post,
    shape: latin1(row.shape),
    raw: latin1(row.raw),
    parts: row.parts.map(latin1),
    more: new Map([...row.more].map(([path, text]) => [latin1(path), latin1(text)])),
    ...Object.fromEntries([...row.slots].map(([slot, text]) => [slot, latin1(text)])),
  }
}

export function rowsOf(block: Uint8Array): Row[] {
  const reader = new NativeReader(block)
  const { rows, columns } = reader.block()
  strictEqual(reader.done, true)
  return Array.from({ length: rows }, (_, row) => {
    const values = [...columns].map(([name, column]) => [name, column[row]] as const)
    return {
      raw: '',
      more: new Map(),
      parts: [],
      ...Object.fromEntries(values.filter(([name, value]) => !/^[cs]\d/.test(name) || value !== '')),
    }
  })
}
