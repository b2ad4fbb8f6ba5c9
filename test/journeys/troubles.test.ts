import { setTimeout as sleep } from 'node:timers/promises'
import type { Export, LedgerCounts } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask as askStore } from '../../server/src/events/store/engine.fixture.ts'
import { eventsTables } from '../../server/src/lines/layout/table.ts'
import { type Deployment, openDeployment } from '../support/deployment.ts'
import { type InsistentClient, openInsistentClient, sendEvents } from '../support/insistent-client.ts'
import { isUp, stop, until } from '../support/service.ts'
import { LONG_UNIT_MS, troublesOf } from '../support/troubles.ts'

const ROUNDS = Number(process.env.DENDRO_TEST_TROUBLES ?? 3)
/** The nightly run has troubles that last longer than leases. */
const UNIT_MS = process.env.DENDRO_TEST_TROUBLES === undefined ? LONG_UNIT_MS / 2 : LONG_UNIT_MS
const SEED = Number(process.env.DENDRO_TEST_SEED ?? 20_261_128)
/** Any process serves the API and the tail; two take events, two do the work. */
const ROLES = ['api,ingest,work', 'api,ingest', 'api,work']
const WRITERS = 6
const MONITORS = 8
const POST_EVENTS = 5
const PAUSE_MS = 20
const CALM_MS = 500
/** A sender that waits longer than this for an answer sends again, to the next process. */
const ANSWER_MS = 4_000
const INTERVAL_MS = 60_000
/** An event that the tail does not show within this time after the last round counts as missed. */
const TAIL_MS_MAX = 60_000
/** A minute is compared 20 s after its end by a job that runs every half minute; some more for a busy machine. */
const RECOUNT_MS_MAX = 180_000

let deployment: Deployment
let client: InsistentClient
beforeAll(async () => {
  deployment = await openDeployment(ROLES)
  client = openInsistentClient(deployment.url, deployment.key, ANSWER_MS)
})
afterAll(() => deployment?.close())

const acknowledged = new Set<string>()
const seen: string[] = []
let isOver = false

const send = (sender: number) => sendEvents(client, { sender, postEvents: POST_EVENTS, pauseMs: PAUSE_MS }, acknowledged, () => isOver)

const monitorOf = (n: number, dataset: string): object => ({
  name: `Events ${n}`,
  comparison_operator: 'ABOVE',
  threshold: 1e9,
  window: 'Last 5 minutes',
  actions: [{ email: 'oncall@example.org' }],
  queries: [{ name: 'events', select: ['count(*)'], from: [dataset] }],
})

/** Orders an export and returns a check of its file: every event that was acknowledged before it was ordered, and none twice. */
async function orderExport(): Promise<() => Promise<{ missing: string[]; doubled: number; unknown: string[] }>> {
  const before = new Set(acknowledged)
  const body = JSON.stringify({ search_details: { from_expr: '*', time_range: 'Last 1 day' } })
  const ordered = await client.insist<Export>('POST', '/exports', body)
  return async () => {
    let done: Export | undefined
    await until(async () => {
      done = await client.insist<Export>('GET', `/exports/${ordered?.export_id}`)
      return done?.status === 'COMPLETE' || done?.status === 'FAILED'
    })
    expect(done).toMatchObject({ status: 'COMPLETE' })
    const file = await (await fetch(done?.location ?? '')).text()
    const lines = file.split('\n').slice(0, -1)
    const found = new Set(lines.map((line) => JSON.parse(JSON.parse(line)['@raw']).message as string))
    return {
      missing: [...before.difference(found)],
      doubled: lines.length - found.size,
      unknown: [...found.difference(acknowledged)],
    }
  }
}

/** Waits until all processes serve requests and every sender got something stored since. */
async function untilCalm(): Promise<void> {
  await until(async () => {
    const ready = deployment.processes.map(({ service }) => fetch(`${service.url}/ready`, { signal: AbortSignal.timeout(ANSWER_MS) }))
    const answers = await Promise.allSettled(ready)
    return answers.every((answer) => answer.status === 'fulfilled' && answer.value.status === 200)
  })
  const before = acknowledged.size
  await until(() => acknowledged.size >= before + WRITERS * POST_EVENTS)
}

test(`${ROUNDS} troubles of three processes (seed ${SEED}) lose and double nothing, and delay no monitor by an interval`, async () => {
  const random = randomFrom(SEED)
  const { id } = (await client.insist<{ id: string }>('POST', '/datasets', '{"collection":"default","dataset":"web"}')) ?? { id: '' }
  for (let n = 0; n < MONITORS; n += 1) await client.insist('POST', '/monitors', JSON.stringify(monitorOf(n, id)))
  const tail = await client.insist<{ job_id: string }>('POST', '/live-tail', '{"from_expr":"*"}')
  let isAllSent = false
  let isGivenUp = false
  const isSeen = (): boolean => isGivenUp || (isAllSent && new Set(seen).isSupersetOf(acknowledged))
  const tailing = client.follow(tail?.job_id ?? '', (event) => seen.push(event.message_kvs.message), isSeen)
  const load = Array.from({ length: WRITERS }, (_, n) => send(n))
  const exports: Awaited<ReturnType<typeof orderExport>>[] = []
  const startedMs = Date.now()
  const next = troublesOf(random)
  for (let round = 1; round <= ROUNDS; round += 1) {
    await untilCalm()
    await sleep(CALM_MS)
    exports.push(await orderExport())
    const trouble = next.next().value
    const roundMs = performance.now()
    const failures = await trouble.run(deployment, { random, unitMs: UNIT_MS })
    client.faults.push(...failures.filter((failure) => failure !== undefined))
    await untilCalm()
    const tookS = ((performance.now() - roundMs) / 1_000).toFixed(1)
    process.stderr.write(`round ${round}: ${trouble.name}; all was well again after ${tookS} s, ${acknowledged.size} events\n`)
  }
  isOver = true
  await Promise.all(load)
  isAllSent = true
  exports.push(await orderExport())
  const late = setTimeout(() => {
    isGivenUp = true
  }, TAIL_MS_MAX)
  await tailing
  clearTimeout(late)
  const found = await Promise.all(exports.map((check) => check()))

  expect(client.faults).toEqual([])
  expect(await storedIn(id)).toEqual({ events: acknowledged.size, numbers: acknowledged.size })
  expect([...acknowledged.difference(new Set(seen))]).toEqual([])
  expect(seen).toHaveLength(acknowledged.size)
  expect(found).toEqual(exports.map(() => ({ missing: [], doubled: 0, unknown: [] })))
  expect(await lateMonitors(startedMs)).toEqual([])
  expect(await settledLedger(id)).toEqual({ balances: true, missing: 0, events: acknowledged.size })
})

async function storedIn(id: string): Promise<object | undefined> {
  const tables = eventsTables.map((table) => `select seq, log_id from ${table}`).join(' union all ')
  const rows = await askStore(
    deployment.store.writer,
    `select toUInt32(count()) as events, toUInt32(uniqExact(seq)) as numbers from (${tables}) where log_id = '${id}'`,
  )
  return rows[0]
}

/** The monitors that were not evaluated for more than two intervals, or say that they missed an evaluation. */
async function lateMonitors(startedMs: number): Promise<object[]> {
  const { rows } = await deployment.database.query<{ name: string; times: string[]; missed: number }>(
    `select m.name, array_agg(e.time order by e.time) as times, sum(coalesce((e.record->>'missed')::int, 0))::int as missed
     from monitors m left join monitor_evaluations e on e.monitor_id = m.id group by m.id, m.name order by m.name`,
  )
  expect(rows).toHaveLength(MONITORS)
  return rows.filter(({ times, missed }) => {
    const all = [startedMs, ...times.filter((time) => time !== null).map(Number), Date.now()]
    return missed > 0 || all.some((time, n) => n > 0 && time - (all[n - 1] ?? 0) > 2 * INTERVAL_MS)
  })
}

/**
 * Ends all processes and lets one start, which counts what killed processes left uncounted. A process that starts while others store events may add some
 * of theirs before they do; it compares a minute exactly once the minute is over.
 */
async function settledLedger(id: string): Promise<{ balances?: boolean; missing?: number; events: number }> {
  for (const { service } of deployment.processes) await stop(service.child, 'SIGTERM')
  const [first] = deployment.processes
  await first?.start()
  expect(first && isUp(first.service)).toBe(true)
  const read = () =>
    client.insist<{ is_recount_pending: boolean; totals: LedgerCounts }>('GET', `/ledger?from=${id}&from_ts=${Date.now() - 6 * 3_600_000}`)
  let last = await read()
  const lastMinuteMs = Math.ceil(Date.now() / 60_000) * 60_000
  const isEqual = (): boolean => Number(last?.totals.stored ?? 0) === acknowledged.size
  await until(async () => {
    last = await read()
    return last?.is_recount_pending === false && (isEqual() || Date.now() > lastMinuteMs + RECOUNT_MS_MAX)
  })
  const { stored = 0, balances, missing } = last?.totals ?? {}
  return {
    ...(balances === undefined ? {} : { balances }),
    ...(missing === undefined ? {} : { missing: Number(missing) }),
    events: Number(stored),
  }
}

/** Reproducible numbers between 0 and 1 for a seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
