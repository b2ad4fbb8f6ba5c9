import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestBucket, type TestBucket } from '../../files/bucket.fixture.ts'
import { openLedger, type RequestOutcome } from '../ledger/ledger.ts'
import { recount } from '../ledger/recount.ts'
import { makeEngines, testDeps } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import { postOf } from '../writer/blocks.fixture.ts'
import { openEventWriter } from '../writer/writer.ts'
import { moveParts } from './tiers.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

const engines = makeEngines()
let bucket: TestBucket
let store: EventStore

beforeAll(async () => {
  bucket = await startTestBucket()
  store = await engines.open(await engines.madeDir(), testDeps, { cold: { location: bucket.location } })
})
afterAll(async () => {
  await engines.cleanUp()
  await bucket?.close()
})

const nowMs = Date.now()
const fromMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS
const ages = { otherwiseMs: 30 * DAY_MS, byId: new Map() }
const noted: Omit<RequestOutcome, 'logId' | 'stored'> = {
  orgNumber: 1,
  identity: { type: 'API_KEY_ID', id: '11111111-1111-1111-1111-111111111111' },
  protocol: 'native',
  received: 1,
  duplicate: 0,
  rejected: {},
  dropped: 0,
  droppedBytes: 0,
  rules: new Map(),
  truncated: 0,
  late: 1,
  wireBytes: 4,
  rawBytes: 4,
}
const span = { fromMs, toMs: fromMs + 30 * MINUTE_MS }

const recountOf = (tiers: 'all' | 'local disk') => recount(store, { ...span, tiers }, () => false)

test('while the bucket is away, a recount adds events of the disk and reports none as missing', async () => {
  const logId = randomUUID()
  const writer = await openEventWriter(store, testDeps)
  const ledger = openLedger(store, testDeps)
  for (const [line, ageDays] of [
    ['late', 40],
    ['young', 0],
  ] as const) {
    const result = await writer.write(postOf([line], { logId }, nowMs - ageDays * DAY_MS))
    const stored = result.kind === 'stored' ? result.runs : []
    if (line === 'late') ledger.note({ ...noted, logId, stored })
  }
  await ledger.close()
  await writer.close()
  const moved = await moveParts(store, ages, { ...testDeps, signal: AbortSignal.timeout(60_000), datasets: [] })
  expect(moved).toMatchObject({ moved: 1 })
  for (const state of ['refuses', 'hangs'] as const) {
    await bucket.set(state)
    await expect(recountOf('all')).rejects.toThrow('S3')
    // One event is counted and one is on the disk: nothing can be said.
    expect(await recountOf('local disk')).toEqual([])
  }
  await bucket.set('works')
  expect(await recountOf('all')).toMatchObject([{ logId, added: 1, missing: 0, isNew: true }])
  await bucket.set('refuses')
  expect(await recountOf('local disk')).toEqual([])
})
