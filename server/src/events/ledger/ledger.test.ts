import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../kernel/clock.ts'
import { NIL_ID } from '../../kernel/ids.ts'
import { ask, makeEngines, pidOf, testDeps } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import { blockOf } from '../writer/blocks.fixture.ts'
import { seqAt } from '../writer/seq.ts'
import { openEventWriter } from '../writer/writer.ts'
import { type Ledger, openLedger, type RequestOutcome } from './ledger.ts'
import { LedgerPage, MINUTE_MS, minuteOfSeq } from './page.ts'
import { recount } from './recount.ts'

const engines = makeEngines()
let store: EventStore

beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
})
afterAll(engines.cleanUp)

const START_MS = Date.UTC(2026, 10, 21, 10, 0)
const KEY = { type: 'API_KEY_ID', id: '11111111-1111-1111-1111-111111111111' } as const
let organizations = 0
const newOrganization = (): number => {
  organizations += 1
  return organizations
}
/** A clock that does not advance: a ledger writes only when the test tells it to. Abandoning such a ledger simulates a killed process. */
const still: Clock = { nowMs: () => START_MS, monotonicMs: () => 0, sleep: waitForever }

function waitForever(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
}
const open = (of = store): Ledger => openLedger(of, { ...testDeps, clock: still })

const nothing = {
  received: 0,
  stored: [],
  duplicate: 0,
  rejected: {},
  dropped: 0,
  droppedBytes: 0,
  rules: new Map(),
  truncated: 0,
  late: 0,
  wireBytes: 0,
  rawBytes: 0,
}
const entry = (orgNumber: number, logId: string, counts: Partial<RequestOutcome>): RequestOutcome => ({
  orgNumber,
  logId,
  identity: KEY,
  protocol: 'native',
  ...nothing,
  ...counts,
})

type Row = Record<
  'received' | 'stored' | 'duplicate' | 'rejected' | 'truncated' | 'late' | 'missing' | 'wire_bytes' | 'raw_bytes',
  number
> & {
  minute: number
  log_id: string
  identity_id: string
  protocol: string
  reasons: Record<string, string>
}

/** Reads the ledger of one organization as its readers do. */
async function rowsOf(orgNumber: number): Promise<Row[]> {
  const counts = ['received', 'stored', 'duplicate', 'rejected', 'truncated', 'late', 'missing', 'wire_bytes', 'raw_bytes']
  return ask<Row>(
    store.reader,
    `select log_id, toUnixTimestamp(minute) as minute, identity_id, protocol, reasons, ${counts.map((name) => `toUInt32(${name}) as ${name}`)}
     from ledger final order by minute, protocol, page`,
    String(orgNumber),
  )
}

const sum = (rows: readonly Row[], name: 'received' | 'stored' | 'duplicate' | 'rejected' | 'missing'): number =>
  rows.reduce((total, row) => total + row[name], 0)

async function addEvents(orgNumber: number, logId: string, firstSeq: bigint, rows: number): Promise<void> {
  const values = Array.from({ length: rows }, (_, n) => ({
    org_id: orgNumber,
    log_id: logId,
    ts: '2026-11-20 10:00:00',
    seq: String(firstSeq + BigInt(n)),
    raw: 'line',
  }))
  await store.writer.insert({ table: 'events_s', values, format: 'JSONEachRow' })
}

const recountAll = (mayMiss: (logId: string) => boolean = () => false) =>
  recount(store, { fromMs: START_MS - 10 * MINUTE_MS, toMs: START_MS + 10 * MINUTE_MS }, mayMiss)

test('notes are stored within a second, by dataset, identity, protocol and minute', async () => {
  const orgNumber = newOrganization()
  const [web, mail] = [randomUUID(), randomUUID()]
  const ledger = openLedger(store, testDeps)
  const firstSeq = seqAt(START_MS)
  ledger.note(
    entry(orgNumber, web, {
      received: 5,
      stored: [{ firstSeq, rows: 3 }],
      duplicate: 1,
      rejected: { time: 1 },
      wireBytes: 70,
      rawBytes: 90,
    }),
  )
  ledger.note(
    entry(orgNumber, web, {
      received: 2,
      stored: [{ firstSeq: firstSeq + 3n, rows: 2 }],
      truncated: 1,
      late: 2,
      wireBytes: 30,
      rawBytes: 40,
    }),
  )
  ledger.note(entry(orgNumber, web, { received: 1, stored: [{ firstSeq: seqAt(START_MS + MINUTE_MS), rows: 1 }] }))
  ledger.note(entry(orgNumber, mail, { received: 2, rejected: { limit: 2 }, protocol: 'otlp', identity: { type: 'USER_ID', id: web } }))
  await expect.poll(async () => (await rowsOf(orgNumber)).length).toBe(3)
  const rows = await rowsOf(orgNumber)
  const [first, second] = rows.filter((row) => row.log_id === web)
  expect(first).toMatchObject({ minute: START_MS / 1_000, identity_id: KEY.id, protocol: 'native' })
  expect(first).toMatchObject({ received: 7, stored: 5, duplicate: 1, rejected: 1, reasons: { time: '1' } })
  expect(first).toMatchObject({ truncated: 1, late: 2, missing: 0, wire_bytes: 100, raw_bytes: 130 })
  expect(second).toMatchObject({ minute: START_MS / 1_000 + 60, received: 1, stored: 1 })
  const other = rows.find((row) => row.log_id === mail)
  expect(other).toMatchObject({ protocol: 'otlp', identity_id: web, rejected: 2, reasons: { limit: '2' } })
  await ledger.close()
})

test('a reader sees the ledger of only one organization', async () => {
  const orgNumber = newOrganization()
  const ledger = open()
  ledger.note(entry(orgNumber, randomUUID(), { received: 1, rejected: { limit: 1 } }))
  await ledger.close()
  expect((await rowsOf(orgNumber)).length).toBe(1)
  expect(await rowsOf(newOrganization())).toEqual([])
})

test('a write with unknown outcome is repeated and counts once', async () => {
  const orgNumber = newOrganization()
  let answersLost = 2
  const unsure: EventStore = Object.create(store, {
    writer: {
      get: () =>
        Object.assign(Object.create(store.writer), {
          insert: async (ask: Parameters<EventStore['writer']['insert']>[0]) => {
            const answer = await store.writer.insert(ask)
            answersLost -= 1
            if (answersLost >= 0) throw new Error('socket hang up')
            return answer
          },
        }),
    },
  })
  const ledger = open(unsure)
  const logId = randomUUID()
  ledger.note(entry(orgNumber, logId, { received: 2, stored: [{ firstSeq: seqAt(START_MS), rows: 2 }] }))
  await expect(ledger.flush()).rejects.toThrow('socket hang up')
  ledger.note(entry(orgNumber, logId, { received: 3, duplicate: 3 }))
  await expect(ledger.flush()).rejects.toThrow('socket hang up')
  await ledger.flush()
  await ledger.flush()
  expect(await rowsOf(orgNumber)).toMatchObject([{ received: 5, stored: 2, duplicate: 3 }])
  await store.writer.command({ query: 'optimize table ledger final' })
  expect(await rowsOf(orgNumber)).toMatchObject([{ received: 5, stored: 2, duplicate: 3 }])
})

test('two processes and two pages that count the same minute add up', async () => {
  const orgNumber = newOrganization()
  const logId = randomUUID()
  for (const ledger of [open(), open()]) {
    ledger.note(entry(orgNumber, logId, { received: 1, rejected: { limit: 1 } }))
    await ledger.close()
  }
  let nowMs = 0
  const ledger = openLedger(store, { ...testDeps, clock: { ...still, monotonicMs: () => nowMs } })
  for (; nowMs < 3_600_000; nowMs += 900_000) {
    ledger.note(entry(orgNumber, logId, { received: 1, rejected: { limit: 1 } }))
    await ledger.flush()
  }
  await ledger.close()
  expect([sum(await rowsOf(orgNumber), 'rejected'), (await rowsOf(orgNumber)).length]).toEqual([6, 5])
})

describe('a recount', () => {
  test('agrees with the notes of posts over many days and tables whose numbers are assigned in steps', async () => {
    const orgNumber = newOrganization()
    const logId = randomUUID()
    const writer = await openEventWriter(store, testDeps)
    const ledger = open()
    const [fromMs, days] = [Date.now() - MINUTE_MS, [0, 1, 2].map((day) => START_MS - day * 86_400_000)]
    const blocks = days.flatMap((atMs) => [
      blockOf(['a', 'b'], { orgNumber, logId }, atMs),
      blockOf(['c'], { orgNumber, logId, tableClass: 'm' }, atMs),
    ])
    const written = await writer.write({ orgNumber, logId, idempotencyKey: 0n, bodyHash: 0n, blocks })
    if (written.kind !== 'stored') throw new Error('the post was not stored')
    expect(written.runs.map(({ rows }) => rows).sort()).toEqual([1, 1, 1, 2, 2, 2])
    ledger.note(entry(orgNumber, logId, { received: 9, stored: written.runs }))
    await ledger.close()
    await writer.close()
    const range = { fromMs: Math.floor(fromMs / MINUTE_MS) * MINUTE_MS, toMs: (Math.floor(Date.now() / MINUTE_MS) + 2) * MINUTE_MS }
    expect((await recount(store, range, () => false)).filter((one) => one.orgNumber === orgNumber)).toEqual([])
    expect(sum(await rowsOf(orgNumber), 'stored')).toBe(9)
  })

  test('finds the events that a killed process stored and did not note, once', async () => {
    const orgNumber = newOrganization()
    const logId = randomUUID()
    const ledger = open()
    const firstSeq = seqAt(START_MS + 5_000)
    await addEvents(orgNumber, logId, firstSeq, 8)
    ledger.note(entry(orgNumber, logId, { received: 5, stored: [{ firstSeq, rows: 5 }] }))
    await ledger.flush()
    const found = await recountAll()
    expect(found.filter((one) => one.orgNumber === orgNumber)).toEqual([
      { orgNumber, logId, minuteMs: START_MS, added: 3, missing: 0, isNew: true },
    ])
    expect((await recountAll()).filter((one) => one.orgNumber === orgNumber)).toEqual([])
    const rows = await rowsOf(orgNumber)
    expect([sum(rows, 'received'), sum(rows, 'stored'), sum(rows, 'missing')]).toEqual([8, 8, 0])
    expect(rows.find(({ protocol }) => protocol === 'recount')).toMatchObject({ identity_id: NIL_ID, stored: 3 })
  })

  test('reverts its correction when the note arrives later', async () => {
    const orgNumber = newOrganization()
    const logId = randomUUID()
    const ledger = open()
    await addEvents(orgNumber, logId, seqAt(START_MS), 4)
    await recountAll()
    ledger.note(entry(orgNumber, logId, { received: 4, stored: [{ firstSeq: seqAt(START_MS), rows: 4 }] }))
    await ledger.flush()
    expect((await recountAll()).filter((one) => one.orgNumber === orgNumber)).toMatchObject([{ added: 0, missing: 0, isNew: false }])
    expect(sum(await rowsOf(orgNumber), 'stored')).toBe(4)
  })

  test('reports missing events while they are missing, except of datasets whose events were deleted', async () => {
    const orgNumber = newOrganization()
    const [lossy, removed] = [randomUUID(), randomUUID()]
    const ledger = open()
    await addEvents(orgNumber, lossy, seqAt(START_MS), 2)
    for (const logId of [lossy, removed]) {
      ledger.note(entry(orgNumber, logId, { received: 5, stored: [{ firstSeq: seqAt(START_MS), rows: 5 }] }))
    }
    await ledger.flush()
    for (const isNew of [true, false]) {
      const found = (await recountAll((logId) => logId === removed)).filter((one) => one.orgNumber === orgNumber)
      expect(found).toEqual([{ orgNumber, logId: lossy, minuteMs: START_MS, added: 0, missing: 3, isNew }])
    }
    expect(sum(await rowsOf(orgNumber), 'missing')).toBe(3)
    await addEvents(orgNumber, lossy, seqAt(START_MS) + 2n, 3)
    expect((await recountAll((logId) => logId === removed)).filter((one) => one.orgNumber === orgNumber)).toMatchObject([
      { logId: lossy, missing: 0, isNew: false },
    ])
    expect(sum(await rowsOf(orgNumber), 'missing')).toBe(0)
  })
})

/** One request and how its process fares. A crash loses everything that was not written. */
const step = fc.record({
  dataset: fc.integer({ min: 0, max: 2 }),
  stored: fc.integer({ min: 0, max: 4 }),
  atMs: fc.integer({ min: 0, max: 3 * MINUTE_MS }),
  duplicate: fc.integer({ min: 0, max: 3 }),
  rejected: fc.dictionary(fc.constantFrom('limit', 'time'), fc.integer({ min: 1, max: 3 }), { maxKeys: 2 }),
  end: fc.constantFrom('go on', 'go on', 'write', 'crash before the note', 'crash', 'recount'),
})

test('received = stored + rejected + duplicate for every dataset across crashes, and every stored event is counted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const orgNumber = newOrganization()
      const datasets = [randomUUID(), randomUUID(), randomUUID()]
      const truth = new Map<string, number>()
      let [ledger, taken] = [open(), 0n]
      for (const { dataset, stored, atMs, duplicate, rejected, end } of steps) {
        const logId = datasets[dataset] ?? ''
        const firstSeq = seqAt(START_MS + atMs) + taken
        taken += BigInt(stored)
        if (stored > 0) await addEvents(orgNumber, logId, firstSeq, stored)
        truth.set(logId, (truth.get(logId) ?? 0) + stored)
        if (end === 'crash before the note') ledger = open()
        const received = stored + duplicate + Object.values(rejected).reduce((a, b) => a + b, 0)
        if (end !== 'crash before the note')
          ledger.note(entry(orgNumber, logId, { received, stored: stored > 0 ? [{ firstSeq, rows: stored }] : [], duplicate, rejected }))
        if (end === 'crash') ledger = open()
        if (end === 'write') await ledger.flush()
        if (end === 'recount') await recountAll()
      }
      await ledger.close()
      await recountAll()
      const rows = await rowsOf(orgNumber)
      for (const logId of datasets) {
        const own = rows.filter((row) => row.log_id === logId)
        expect(sum(own, 'received')).toBe(sum(own, 'stored') + sum(own, 'rejected') + sum(own, 'duplicate'))
        expect([sum(own, 'stored'), sum(own, 'missing')]).toEqual([truth.get(logId) ?? 0, 0])
      }
    }),
    { numRuns: 25 },
  )
})

describe('a page', () => {
  test('cuts a run of numbers where a minute ends', () => {
    const page = new LedgerPage(randomUUID(), 0)
    const firstSeq = seqAt(START_MS + MINUTE_MS) - 2n
    page.note(entry(1, 'a', { received: 8, stored: [{ firstSeq, rows: 5 }], duplicate: 3, rawBytes: 9 }), 0)
    expect(
      page.unwritten().map(({ minuteMs, counts }) => [minuteMs, counts.received, counts.stored, counts.duplicate, counts.raw_bytes]),
    ).toEqual([
      [START_MS, 5, 2, 3, 9],
      [START_MS + MINUTE_MS, 3, 3, 0, 0],
    ])
    expect(minuteOfSeq(firstSeq + 2n)).toBe(START_MS + MINUTE_MS)
  })

  test('loses no count and stops growing at its bound', () => {
    const page = new LedgerPage(randomUUID(), 0, 10)
    for (let minute = 0; minute < 1_000; minute += 1) page.note(entry(1, 'a', { received: 1, rejected: { limit: 1 } }), minute * MINUTE_MS)
    expect([page.size, page.unwritten().reduce((total, { counts }) => total + counts.rejected, 0)]).toEqual([10, 1_000])
  })
})

test('a recount ends with an outage of the store, and the next one finds all that is stored and nothing else', async () => {
  for (const way of ['SIGKILL', 'SIGSTOP'] as const) {
    const [orgNumber, logId] = [newOrganization(), randomUUID()]
    await addEvents(orgNumber, logId, seqAt(START_MS), 2)
    process.kill(pidOf(store), way)
    await expect(recountAll()).rejects.toThrow()
    let differences: Awaited<ReturnType<typeof recountAll>> = []
    const again = async (): Promise<boolean> => {
      differences = await recountAll().catch(() => [])
      return differences.length > 0
    }
    await expect.poll(again, { timeout: 120_000 }).toBe(true)
    expect(differences.filter((each) => each.logId === logId)).toMatchObject([{ added: 2, missing: 0, isNew: true }])
  }
})
