import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteEvents } from '../../server/src/events/purge/purge.ts'
import { startTestCluster, type TestCluster } from '../../server/src/events/store/cluster.fixture.ts'
import { clusterPlan } from '../../server/src/events/store/cluster-plan.ts'
import { eventsTables } from '../../server/src/lines/layout/table.ts'
import { type ClusterServices, openClusterServices } from '../support/cluster-services.ts'
import type { TestApp, TestOrganization } from '../support/world.ts'

const POSTS = 24
const DATASET = 'web'
const HOUR_MS = 3_600_000
const PATIENCE = { timeout: 240_000, interval: 250 }

let cluster: TestCluster
let services: ClusterServices
/** Refuses questions while a shard is away. */
let app: TestApp
/** Answers with what is there. */
let lenient: TestApp
let organization: TestOrganization
const onAllNodes = new Set<string>()
let fault: TestCluster['verdict'] = () => 'pass'

beforeAll(async () => {
  cluster = await startTestCluster()
  cluster.insertsTo = [0, 1]
  cluster.verdict = (statement) => {
    if (/\bon cluster\b/i.test(statement)) onAllNodes.add(statement)
    return fault(statement)
  }
  services = await openClusterServices(cluster.url)
  ;({ app, lenient, organization } = services)
})
afterAll(async () => {
  await services?.close()
  await cluster?.close()
})

let refusals = 0

/** Sends one event as a patient sender does: again with its key until it is stored. */
async function post(message: string): Promise<void> {
  const headers = { 'x-service-dataset': DATASET, 'idempotency-key': message }
  const untilMs = performance.now() + PATIENCE.timeout
  for (;;) {
    const { status } = await organization.ask('POST', '/ingest', { headers, body: { message } })
    if (status < 300) return
    expect(status, message).toBe(503)
    refusals += 1
    expect(performance.now(), `${message} is stored in time`).toBeLessThan(untilMs)
    await sleep(PATIENCE.interval)
  }
}

/** One post after the other, so that each is an insert of its own. */
async function postAll(name: string): Promise<string[]> {
  const messages = Array.from({ length: POSTS }, (_, nth) => `${name} ${nth}`)
  for (const message of messages) await post(message)
  return messages
}

type Answer = {
  is_exact: boolean
  warnings: { code: string; message: string }[]
  totals: { count: number }
  events: { message_kvs: { message: string } }[]
}

async function search(service: TestApp) {
  const { body: listed } = await organization.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  const from = listed.datasets.filter(({ dataset }) => dataset === DATASET).map(({ id }) => id)
  const nowMs = app.clock.nowMs()
  const body = { from, select: ['message'], limit: 1_000, from_ts: nowMs - HOUR_MS, to_ts: nowMs + HOUR_MS }
  const { status, headers, body: answer } = await service.ask<Answer>('POST', '/search', { key: organization.key, body })
  return {
    status,
    headers,
    answer,
    from,
    messages: status === 200 ? answer.events.map(({ message_kvs }) => message_kvs.message).sort() : [],
  }
}

const storedOn = async (node: number): Promise<number> => {
  const counts = eventsTables.map((table) => `select count() as events from ${table}_local`)
  return Number(await cluster.ask(node, `select sum(events) from (${counts.join(' union all ')})`))
}

test('two shards: one is away and comes back, ingestion continues, answers are complete or say what is missing, nothing is lost or doubled', async () => {
  const before = await postAll('before')
  const [first, second] = [await storedOn(0), await storedOn(1)]
  expect(first + second).toBe(POSTS)
  expect(Math.min(first, second)).toBeGreaterThan(0)
  expect((await search(app)).messages).toEqual(before.toSorted())

  await cluster.stop(1)
  const during = await postAll('during')
  const refused = await search(app)
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
  const partial = await search(lenient)
  expect([partial.status, partial.answer.is_exact, partial.answer.warnings[0]]).toMatchObject([
    200,
    false,
    { code: 'MISSING_SHARD', message: expect.stringMatching(/^shard 2 of 2 /) },
  ])
  expect(partial.messages.length).toBe(first + POSTS)
  expect(partial.messages).toEqual(expect.arrayContaining(during))
  await expect
    .poll(async () => (await app.ask<{ details: string }>('GET', '/health')).body.details, PATIENCE)
    .toContain('does not answer: shard 2 of 2')

  await cluster.start(1)
  await expect.poll(async () => (await search(app)).status, PATIENCE).toBe(200)
  const whole = await search(lenient)
  expect([whole.answer.is_exact, whole.messages]).toEqual([true, [...before, ...during].toSorted()])
})

test('an insert that a shard had stored when it died is not stored again when the sender repeats it', async () => {
  const earlier = (await search(app)).messages
  let [isLost, isAway] = [false, false]
  cluster.insertsTo = [1]
  fault = (statement) => {
    // Until the shard is away, nothing finds out what it has stored.
    if (/from pattern_events_\w+\s+where toDate/.test(statement) && !isAway) return { code: 279, message: 'All connection tries failed' }
    if (isLost || !/^insert into pattern_events_/.test(statement)) return 'pass'
    isLost = true
    return 'lose answer'
  }
  const before = await storedOn(1)
  refusals = 0
  const cut = post('cut')
  await expect.poll(() => storedOn(1), PATIENCE).toBe(before + 1)
  await cluster.stop(1)
  isAway = true
  cluster.insertsTo = [0]
  const others = await postAll('while the outcome is unknown')
  // The sender is refused at least once before the shard is back.
  await expect.poll(() => refusals, PATIENCE).toBeGreaterThan(0)
  await cluster.start(1)
  await cut
  await expect.poll(async () => (await search(app)).messages, PATIENCE).toEqual([...earlier, 'cut', ...others].toSorted())
})

test('a deletion reaches both shards, and every statement that was sent to all nodes is in the plan', async () => {
  const { from } = await search(app)
  const { events, clock, log } = app.app.world
  await deleteEvents(events, [{ logIds: from }], { clock, log, mayRewrite: true, signal: AbortSignal.timeout(PATIENCE.timeout) })
  expect([await storedOn(0), await storedOn(1)]).toEqual([0, 0])
  const plain = (statement: string): string =>
    statement
      .replace(/delete where [\s\S]*/, 'delete where …')
      .replace(/\s+/g, ' ')
      .trim()
  const planned = new Set((await clusterPlan({ database: 'dendro', cluster: 'both' })).flatMap(({ statements }) => statements.map(plain)))
  const sent = [...onAllNodes].map(plain)
  expect(sent.length).toBeGreaterThan(50)
  expect(sent.some((statement) => statement.includes('delete where'))).toBe(true)
  expect(sent.filter((statement) => !planned.has(statement.replace(/ settings .*$/, '')) && !planned.has(statement))).toEqual([])
})
