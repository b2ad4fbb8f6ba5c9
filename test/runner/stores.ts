import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openEventStore } from '../../server/src/events/store/events.ts'
import { systemClock } from '../../server/src/kernel/clock.ts'
import { systemIds } from '../../server/src/kernel/ids.ts'
import { openLogger } from '../../server/src/kernel/log.ts'
import { keepMadeStoresIn } from '../../server/src/kernel/made-store.fixture.ts'
import { makeTemplate } from '../../server/src/meta/database.fixture.ts'
import { openMeta } from '../../server/src/meta/meta.ts'

declare module 'vitest' {
  interface ProvidedContext {
    stores: { events: string; meta: string; template: string; masterKey: string; dataDir: string }
  }
}

const MEMORY_BYTES = 2 * 2 ** 30

/** Starts one pair of embedded stores for the whole run; organizations isolate the tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dendro-test-'))
  keepMadeStoresIn(join(dataDir, 'made'))
  const deps = { clock: systemClock, log: openLogger(process.env.DENDRO_TEST_LOG_LEVEL ?? 'error'), ids: systemIds }
  const [events, meta] = await Promise.all([
    openEventStore({ dataDir, memoryBytes: MEMORY_BYTES }, deps),
    openMeta({ dataDir, url: process.env.DENDRO_TEST_POSTGRES_URL }, deps),
  ])
  const { template, drop } = await makeTemplate(meta.url)
  project.provide('stores', { events: events.url, meta: meta.url, template, masterKey: randomBytes(32).toString('hex'), dataDir })
  return async () => {
    await drop()
    await Promise.all([events.close(), meta.close()])
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
