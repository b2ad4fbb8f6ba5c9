import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { contract, Monitor, MonitorEvaluation, ReplyOf } from '@dendro/api'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Engines, makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import { makeServiceDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import { clientConfig } from '../../server/src/meta/driver.ts'
import { recordingArgs, stop } from '../support/service.ts'
import type { FromProgram, ToProgram } from '../support/watching-program.ts'

const MONITORS = 24
const MINUTE_MS = 60_000
const secret = randomBytes(32).toString('hex')
const KEY = `dk_${secret}`

/** One process of the service. */
type Watcher = { child: ChildProcess; url: string }

let engines: Engines
let database: TestDatabase
let client: pg.Client
let env: Record<string, string>
let nowMs = Date.now()
const dirs: string[] = []
const watchers = new Set<Watcher>()

beforeAll(async () => {
  engines = makeEngines()
  const store = await engines.open(await engines.madeDir())
  database = await makeServiceDatabase(inject('stores'))
  client = new pg.Client(clientConfig({ connectionString: database.url }))
  await client.connect()
  env = {
    DENDRO_CLICKHOUSE_URL: store.url,
    DENDRO_POSTGRES_URL: database.url,
    DENDRO_MASTER_KEY: secret,
    DENDRO_JWT_SECRET: secret,
    DENDRO_BOOTSTRAP_API_KEY: KEY,
    DENDRO_RATE_LIMIT: 'off',
    DENDRO_LOG_LEVEL: 'error',
    DENDRO_MEMORY: '1G',
    DENDRO_EXPORT_URL: `file://${await newDir()}`,
  }
})
afterAll(async () => {
  for (const { child } of watchers) await stop(child, 'SIGKILL')
  await client?.end()
  await database?.drop()
  await engines?.cleanUp()
  for (const dir of dirs) await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function newDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-watching-'))
  dirs.push(dir)
  return dir
}

/** Runs another process on the same two stores and export location; each has its own data directory. */
async function start(): Promise<Watcher> {
  const dir = await newDir()
  const child = fork(join(import.meta.dirname, '../support/watching-program.ts'), [String(nowMs)], {
    env: { ...process.env, ...env, DENDRO_DATA_DIR: dir },
    execArgv: recordingArgs,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ url }] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`a process left with status ${code}`))),
  ])) as [FromProgram]
  const watcher = { child, url }
  watchers.add(watcher)
  return watcher
}

async function kill(watcher: Watcher): Promise<void> {
  watchers.delete(watcher)
  await stop(watcher.child, 'SIGKILL')
}

async function ask<T>({ url }: Watcher, method: string, path: string, body?: string): Promise<T> {
  const headers = { 'x-service-api-key': KEY, 'content-type': path === '/' ? 'application/x-ndjson' : 'application/json' }
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

const numberIn = async (query: string): Promise<number> => Number((await client.query(query)).rows[0]?.number)

/** Advances the clock of every process by a number of minutes. */
function pass(minutes: number): void {
  nowMs += minutes * MINUTE_MS
  const message: ToProgram = { nowMs }
  for (const { child } of watchers) child.send(message)
}

/** Waits until every monitor has been evaluated at this time. */
const evaluated = (): Promise<void> =>
  expect
    .poll(() => numberIn(`select count(distinct monitor_id) as number from monitor_evaluations where time = ${nowMs}`), { interval: 100 })
    .toBe(MONITORS)

const holders = async (): Promise<string[]> =>
  (await client.query<{ holder: string }>('select holder from monitor_states where holder is not null')).rows.map(({ holder }) => holder)

/** Lets one process claim and evaluate all monitors but not store the results, until it is killed and another has taken over. */
async function killedInTheMiddle(victim: Watcher, heir: Watcher): Promise<void> {
  heir.child.kill('SIGSTOP')
  await client.query('begin')
  await client.query('lock table monitor_evaluations in share mode')
  pass(1)
  await expect.poll(async () => (await holders()).length).toBe(MONITORS)
  const [holder] = await holders()
  await kill(victim)
  heir.child.kill('SIGCONT')
  await expect.poll(async () => (await holders()).filter((other) => other !== holder).length).toBe(MONITORS)
  await client.query('commit')
}

test('when one of two processes is killed during an evaluation, every evaluation happens once and each alert is sent once', async () => {
  const first = await start()
  const second = await start()
  const body = {
    comparison_operator: 'ABOVE',
    threshold: 2,
    window: 'Last 5 minutes',
    no_data_status: 'OK',
    actions: [{ email: 'oncall@example.org' }],
    queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error' }],
  }
  const ids: string[] = []
  for (let index = 0; index < MONITORS; index += 1) {
    const through = index % 2 === 0 ? first : second
    ids.push((await ask<Monitor>(through, 'POST', '/monitors', JSON.stringify({ ...body, name: `Errors ${index}` }))).id)
  }
  await evaluated()
  const minutes = [nowMs]
  const minute = async (): Promise<void> => {
    pass(1)
    await evaluated()
    minutes.push(nowMs)
  }
  await minute()
  await ask(second, 'POST', '/', Array.from({ length: 3 }, () => '{"level": "error"}').join('\n'))
  await killedInTheMiddle(first, second)
  await evaluated()
  minutes.push(nowMs)
  await minute()
  await start()
  await minute()
  await minute()

  for (const id of ids) {
    const { evaluations } = await ask<{ evaluations: MonitorEvaluation[] }>(second, 'GET', `/monitors/${id}/evaluations`)
    expect(evaluations.map(({ time }) => time)).toEqual(minutes.toReversed())
    expect(evaluations.map(({ missed }) => missed)).toEqual(minutes.map(() => 0))
    expect(evaluations.map(({ status }) => status)).toEqual(['ALERT', 'ALERT', 'ALERT', 'ALERT', 'OK', 'OK'])
    const { monitor_events } = await ask<ReplyOf<typeof contract.monitors.events>>(second, 'GET', `/monitors/${id}/events`)
    expect(monitor_events.filter(({ monitor_status }) => monitor_status === 'ALERT')).toHaveLength(1)
    const sent = await ask<ReplyOf<typeof contract.monitors.notifications>>(second, 'GET', `/monitors/${id}/notifications`)
    expect(sent.monitor_notifications).toHaveLength(1)
  }
})
