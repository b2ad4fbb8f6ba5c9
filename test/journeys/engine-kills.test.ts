import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyMadeEvents } from '../../server/src/events/store/engine.fixture.ts'
import { openEventStore } from '../../server/src/events/store/events.ts'
import { systemClock } from '../../server/src/kernel/clock.ts'
import { systemIds } from '../../server/src/kernel/ids.ts'
import { openLogger } from '../../server/src/kernel/log.ts'

/** KILLS is small, since the supervisor waits longer from one to the next. */
const KILLS = 6
const WRITERS = 3
const BATCH_ROWS = 200
const deps = { clock: systemClock, ids: systemIds, log: openLogger('silent') }

test('an engine killed repeatedly under load loses nothing acknowledged, and every insert is complete or absent', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'dendro-kills-'))
  await copyMadeEvents(dataDir)
  const store = await openEventStore({ dataDir, memoryBytes: 2 ** 30 }, deps)
  const acknowledged: number[] = []
  const stop = new AbortController()
  let batch = 0

  async function write(logId: string): Promise<void> {
    while (!stop.signal.aborted) {
      const mine = batch
      batch += 1
      const values = Array.from({ length: BATCH_ROWS }, (_, n) => ({
        org_id: 1,
        log_id: logId,
        period_s: 60,
        ts: 1,
        seq: mine * BATCH_ROWS + n,
        raw: `line ${n}`,
      }))
      try {
        await store.writer.insert({ table: 'pattern_events_s', values, format: 'JSONEachRow' })
        acknowledged.push(mine)
      } catch {
        // The engine is away; the next batch is tried when it is back.
        await systemClock.sleep(20)
      }
    }
  }

  const writers = Array.from({ length: WRITERS }, () => write(randomUUID()))
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await systemClock.sleep(200 + Math.random() * 800)
    await expect.poll(() => acknowledged.length).toBeGreaterThan(kill)
    store.engine?.kill()
    await expect.poll(() => store.engine?.state(), { interval: 20 }).toMatchObject({ kind: 'up', restarts: kill })
  }
  stop.abort()
  await Promise.all(writers)
  const answer = await store.writer.query({
    query: `select toUInt32(intDiv(seq, ${BATCH_ROWS})) as batch, toUInt32(count()) as rows, toUInt32(uniqExact(seq)) as different from pattern_events_s group by batch`,
    format: 'JSONEachRow',
  })
  const found = new Map((await answer.json<{ batch: number; rows: number; different: number }>()).map((row) => [row.batch, row]))
  expect(acknowledged.length).toBeGreaterThan(KILLS)
  expect(acknowledged.filter((mine) => !found.has(mine))).toEqual([])
  expect([...found.values()].filter(({ rows, different }) => rows !== BATCH_ROWS || different !== BATCH_ROWS)).toEqual([])
  await store.close()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})
