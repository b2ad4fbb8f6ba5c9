import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import { systemClock } from '../../kernel/clock.ts'
import { systemIds } from '../../kernel/ids.ts'
import { openLogger } from '../../kernel/log.ts'
import { copyMadeStore } from '../../kernel/made-store.fixture.ts'
import { eventsTables } from '../../lines/layout/table.ts'
import type { EventDeps } from './engine.ts'
import { type EventStore, type EventStoreOptions, openEventStore } from './events.ts'

export const testDeps: EventDeps = { clock: systemClock, ids: systemIds, log: openLogger('silent') }

export const MEMORY_BYTES = 2 ** 30

/** Fills a data directory with an empty event store, as its first start leaves it. */
export const copyMadeEvents = (dataDir: string): Promise<void> =>
  copyMadeStore('events', dataDir, async (made) => (await openEventStore({ dataDir: made, memoryBytes: MEMORY_BYTES }, testDeps)).close())

/** Opens event stores in separate directories and closes those that a test leaves open. */
export type Engines = {
  newDir(): Promise<string>
  /** A new directory with a store whose first start is over. */
  madeDir(): Promise<string>
  open(dataDir: string, deps?: EventDeps, options?: Pick<EventStoreOptions, 'spillBytes' | 'backups' | 'cold'>): Promise<EventStore>
  cleanUp(): Promise<void>
}

export function makeEngines(): Engines {
  const opened: EventStore[] = []
  const dirs: string[] = []
  const newDir = async (): Promise<string> => {
    const dir = await mkdtemp(join(tmpdir(), 'dendro-events-'))
    dirs.push(dir)
    return dir
  }
  return {
    newDir,
    madeDir: async () => {
      const dir = await newDir()
      await copyMadeEvents(dir)
      return dir
    },
    open: async (dataDir, deps = testDeps, options = {}) => {
      const store = await openEventStore({ dataDir, memoryBytes: MEMORY_BYTES, ...options }, deps)
      opened.push(store)
      return store
    },
    cleanUp: async () => {
      for (const store of opened.splice(0)) await store.close()
      for (const dir of dirs.splice(0)) await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** The process id of a running store's engine. */
export function pidOf(store: EventStore): number {
  const state = store.engine?.state()
  if (state?.kind !== 'up') throw new Error('the engine is not up')
  return state.pid
}

/** Stores events of one organization with the given lines; resolves when they are durable. */
export async function addEvents(store: EventStore, orgId: number, lines: readonly string[]): Promise<void> {
  const logId = randomUUID()
  const values = lines.map((raw, seq) => ({ org_id: orgId, log_id: logId, ts: '2026-11-21 10:00:00', seq, raw }))
  await store.writer.insert({ table: 'events_s', values, format: 'JSONEachRow' })
}

/** Returns the rows of a statement. `organization` is the setting that a reader's query carries. */
export async function ask<Row = Record<string, unknown>>(client: ClickHouseClient, query: string, organization?: string): Promise<Row[]> {
  const settings = organization === undefined ? {} : { log_comment: organization }
  return (await client.query({ query, format: 'JSONEachRow', clickhouse_settings: settings })).json<Row>()
}

const EVERYWHERE = eventsTables.map((table) => `select raw from ${table}`).join(' union all ')

export const linesOf = async (client: ClickHouseClient, organization?: string): Promise<string[]> =>
  (await ask<{ raw: string }>(client, `select raw from (${EVERYWHERE}) order by raw`, organization)).map((row) => row.raw)
