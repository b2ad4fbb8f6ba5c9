import fc from 'fast-check'
import { expect, test } from 'vitest'
import { severities } from '../table.ts'
import type { Arrival, EventRow } from './event.ts'
import { family, hostileLine, type Random, randomFrom } from './generated-lines.ts'
import { NativeReader } from './native-rows.ts'
import { shred } from './reference.ts'
import { Shredder } from './shred.ts'
import { hashToBigint } from './skeleton.ts'
import { emptySlotMap, type Slot, type SlotMap } from './slots.ts'
import { toNs } from './time-text.ts'

const numbers = { orgId: 7, logId: '00112233-4455-6677-8899-aabbccddeeff', firstSeq: 2n ** 62n }
const arrival: Arrival = { at: { ms: Date.UTC(2024, 4, 2), ns: 17 }, attributes: [], origin: '10.0.0.1', post: 0n }

const latin1 = (text: string | Uint8Array): string => Buffer.from(text).toString('latin1')
const random = () => 0.5

function randomMap(chance: Random): SlotMap {
  const slots = new Map<string, Slot>()
  for (const path of ['a', 'b', 'level', 'message', 'x', 'a.b', 'timestamp', '$a', 'status', 'id']) {
    if (chance.chance(0.5)) slots.set(path, `${chance.pick(['c', 's'] as const)}${slots.size % 8}`)
  }
  return {
    ...emptySlotMap('s'),
    slots: new Map([...slots].filter(([, slot], index, all) => all.findIndex(([, one]) => one === slot) === index)),
  }
}

function randomArrival(chance: Random): Arrival {
  const attributes = ['$host', '$a', 'level', 'message', 'x', '$ingest.original_time'].filter(() => chance.chance(0.1))
  return {
    ...arrival,
    attributes: attributes.map((path) => ({ path, text: chance.pick(['', 'error', 'h\0', 'took 12 ms']) })),
    ...(chance.chance(0.2) ? { time: { ms: Date.UTC(chance.pick([1999, 2024, 2030]), 4, 1, 10, 20, 30), ns: 5 } } : {}),
    ...(chance.chance(0.1) ? { severity: 'fatal' as const } : {}),
    post: BigInt(chance.below(2)) * 0x1234_5678_9abc_def0n,
  }
}

/** expected is what a row of a block must be by the reference, in the types of the block. */
function expected(row: EventRow, index: number, given: Arrival): Record<string, unknown> {
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
    more: new Map([...row.more].map(([path, text]) => [latin1(path), latin1(text)])),
    ...Object.fromEntries([...row.slots].map(([slot, text]) => [slot, latin1(text)])),
  }
}

function rowsOf(block: Uint8Array): Record<string, unknown>[] {
  const reader = new NativeReader(block)
  const { rows, columns } = reader.block()
  expect(reader.done).toBe(true)
  return Array.from({ length: rows }, (_, row) => {
    const values = [...columns].map(([name, column]) => [name, column[row]] as const)
    const kept = values.filter(([name, value]) => !/^[cs]\d/.test(name) || value !== '')
    return { raw: '', more: new Map(), ...Object.fromEntries(kept) }
  })
}

/** expectEqual adds lines to a shredder in one block and compares every row with the reference. */
function expectEqual(shredder: Shredder, lines: readonly Uint8Array[], map: SlotMap, given: Arrival): void {
  for (const line of lines) shredder.addLine(line, given)
  const rows = rowsOf(shredder.flush(numbers))
  expect(rows).toHaveLength(lines.length)
  for (const [index, line] of lines.entries()) expect(rows[index]).toEqual(expected(shred(line, map, given), index, given))
}

test('the shredder gives the rows of the reference for lines of any kind', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const chance = randomFrom(seed)
      const map = randomMap(chance)
      const given = randomArrival(chance)
      const lines = Array.from({ length: 20 }, () => hostileLine(chance))
      expectEqual(new Shredder(map, { random }), lines, map, given)
    }),
    { numRuns: 300 },
  )
})

test('the shredder gives the rows of the reference for the lines of programs, block after block', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const chance = randomFrom(seed)
      const map = randomMap(chance)
      const families = Array.from({ length: 1 + chance.below(3) }, () => family(chance))
      const shredder = new Shredder(map, { random })
      for (let block = 0; block < 3; block += 1) {
        const lines = Array.from({ length: 30 }, () => chance.pick(families)())
        expectEqual(shredder, lines, map, chance.chance(0.5) ? arrival : randomArrival(chance))
      }
      expect(shredder.ledger.failures).toBe(0)
    }),
    { numRuns: 150 },
  )
})
