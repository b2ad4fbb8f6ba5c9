import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { copyMadeMeta, silent, testDeps } from './database.fixture.ts'
import { isUnavailable } from './driver.ts'
import { type Meta, openMeta } from './meta.ts'
import { sql } from './sql.ts'

/** A nightly run sets more. */
const KILLS = Number(process.env.DENDRO_TEST_KILLS ?? 8)
const WRITERS = 4
/** The supervisor's delay between restarts grows to seconds. It is shortened here, so that the kills follow each other quickly. */
const impatient: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 100), signal) }

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dendro-kill-'))
  await copyMadeMeta(dataDir)
})
afterEach(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

type Truth = { tried: Set<number>; acknowledged: Set<number> }

/** Commits rows one after the other until stopped, and records the attempted and the acknowledged ones. */
async function write(meta: Meta, writer: number, truth: Truth, signal: AbortSignal): Promise<void> {
  for (let n = writer; !signal.aborted; n += WRITERS) {
    truth.tried.add(n)
    try {
      await meta.write('org', (tx) => tx.run(sql`insert into rows_kept (n, twice) values (${n}, ${2 * n})`))
      truth.acknowledged.add(n)
    } catch (cause) {
      if (!isUnavailable(cause)) throw cause
      await systemClock.sleep(5)
    }
  }
}

/** Kills the server, or every other time all of its processes and its lifeline. */
function kill(meta: Meta, round: number): void {
  const state = meta.server?.state()
  if (state?.kind !== 'up') throw new Error('the server is not up')
  process.kill(round % 2 === 0 ? state.pid : -state.pid, 'SIGKILL')
}

test(`${KILLS} kills under concurrent writes lose no committed row and invent none`, async () => {
  const truth: Truth = { tried: new Set(), acknowledged: new Set() }
  const meta = await openMeta({ dataDir }, { ...testDeps, clock: impatient, log: silent })
  await meta.run(sql`create table rows_kept (n bigint primary key, twice bigint not null)`)
  const stopping = new AbortController()
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(meta, writer, truth, stopping.signal))
  for (let round = 0; round < KILLS; round += 1) {
    const acknowledged = truth.acknowledged.size
    await expect.poll(() => truth.acknowledged.size - acknowledged, { interval: 5 }).toBeGreaterThan(30 + 7 * round)
    kill(meta, round)
    await expect.poll(() => meta.server?.state().kind, { interval: 2 }).toBe('down')
    await expect.poll(() => meta.server?.state().kind, { interval: 5 }).toBe('up')
  }
  stopping.abort()
  await Promise.all(writers)
  await meta.close()

  const again = await openMeta({ dataDir }, testDeps)
  const rows = await again.all<{ n: number; twice: number }>(sql`select n, twice from rows_kept`)
  await again.close()
  const kept = new Set(rows.map((row) => row.n))
  expect([...truth.acknowledged].filter((n) => !kept.has(n))).toEqual([])
  expect(rows.filter((row) => !truth.tried.has(row.n) || row.twice !== 2 * row.n)).toEqual([])
  expect(truth.acknowledged.size).toBeGreaterThan(30 * KILLS)
})
