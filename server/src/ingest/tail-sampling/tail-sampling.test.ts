import { createHash } from 'node:crypto'
import type {
  CallList,
  ChangesReply,
  FailureBody,
  IngestRule,
  LedgerCounts,
  MetricTimeseries,
  OperationList,
  Trace,
  TraceList,
} from '@dendro/api'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/support/world.ts'
import { type Actor, factsOfWork } from '../../http/actor.ts'
import { shareOf } from '../../ingest-rules/share.ts'
import { NIL_ID } from '../../kernel/ids.ts'
import { makeServiceDatabase } from '../../meta/database.fixture.ts'
import { sql } from '../../meta/sql.ts'
import { keepWaitingSpans, mayWait, type WaitingBounds } from '../../resources/data/waiting-spans/waiting-spans.ts'
import { type GivenSpan, sendSpans } from '../../resources/queries/traces/spans.fixture.ts'
import { tailSampling } from './tail-sampling.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp({}, () => [], undefined, { readsSources: true })
})
afterAll(() => app?.close())

const WAIT_S = 30
const POLLED = { timeout: 240_000, interval: 200 }
const rule = { name: 'tail', from_expr: "collection = '.traces'" }
const action = { type: 'TAIL_SAMPLE', keep: 0.25, keep_errors: true, slower_than_ms: 500, wait_s: WAIT_S }

/** A trace id whose hash is below the share to keep, or above it. */
function idWith(isChosen: boolean, name: string, keep = action.keep): string {
  for (let n = 0; ; n += 1) {
    const id = createHash('md5').update(`${name}${n}`).digest('hex')
    if (shareOf(id) < keep === isChosen) return id
  }
}

async function newOwner(of: TestApp = app, own: object = {}) {
  const org = await of.newOrganization()
  const made = await org.ask<IngestRule & FailureBody>('POST', '/ingest-rules', { body: { ...rule, action: { ...action, ...own } } })
  expect([made.status, made.body.details]).toEqual([201, undefined])
  const startMs = of.clock.nowMs() - 60_000
  return {
    org,
    ruleId: made.body.id,
    send: (id: string, spans: readonly GivenSpan[]) => sendSpans(org, startMs, id, spans),
    spansOf: async (id: string): Promise<string[]> => {
      const { status, body } = await org.ask<Trace>('GET', `/traces/${id}`)
      return status === 404 ? [] : body.spans.map(({ name }) => name)
    },
    waiting: () => waitingOf(of, org),
    ledger: async () => (await org.ask<{ totals: LedgerCounts }>('GET', '/ledger')).body.totals,
  }
}

const waitingOf = async (of: TestApp, { orgId }: TestOrganization): Promise<number> =>
  (
    await of.app.world.meta.one<{ events: number }>(
      sql`select coalesce(sum(events), 0)::int as events from waiting_spans where org_id = ${orgId} and ended_at is null`,
    )
  )?.events ?? 0

/** Lets the waits end. */
async function decided({ waiting }: Pick<Awaited<ReturnType<typeof newOwner>>, 'waiting'>, of: TestApp = app): Promise<void> {
  of.clock.advance((WAIT_S + 1) * 1_000)
  await vi.waitFor(async () => expect(await waiting()).toBe(0), POLLED)
}

const plain: readonly GivenSpan[] = [
  { id: 'root', service: 'shop', from: 0, to: 100, kind: 2 },
  { id: 'call', parent: 'root', service: 'pay', from: 10, to: 90, kind: 2 },
]

test('failed and slow traces are kept whole, a share of the others, and nothing of the rest', async () => {
  const owner = await newOwner()
  const [failed, slow, chosen, dropped] = [idWith(false, 'f'), idWith(false, 's'), idWith(true, 'c'), idWith(false, 'd')]
  // The halves of a trace come in posts of their own, and only one of them tells that it failed or was slow.
  const [root, call] = plain as [GivenSpan, GivenSpan]
  await owner.send(failed, [root])
  await owner.send(slow, [root])
  await owner.send(failed, [{ ...call, error: 'refused' }])
  await owner.send(slow, [{ ...call, to: 600 }])
  await owner.send(chosen, plain)
  await owner.send(dropped, plain)
  expect([await owner.waiting(), await owner.spansOf(chosen)]).toEqual([8, []])
  await decided(owner)
  const found = await Promise.all([failed, slow, chosen, dropped].map(owner.spansOf))
  expect(found).toEqual([['root', 'call'], ['root', 'call'], ['root', 'call'], []])
  await vi.waitFor(
    async () =>
      expect(await owner.ledger()).toMatchObject({
        ...{ received: 8, stored: 6, dropped: 2, rejected: 0, duplicate: 0, balances: true },
        rules: { [owner.ruleId]: 2 },
      }),
    POLLED,
  )
})

test('late spans follow the decision about their trace', async () => {
  const owner = await newOwner()
  const [dropped, failed] = [idWith(false, 'late d'), idWith(false, 'late f')]
  const [root, call] = plain as [GivenSpan, GivenSpan]
  await owner.send(dropped, [root])
  await owner.send(failed, [{ ...root, error: 'no' }])
  await decided(owner)
  await owner.send(dropped, [{ ...call, error: 'too late' }])
  await owner.send(failed, [call])
  await decided(owner)
  expect([await owner.spansOf(dropped), await owner.spansOf(failed)]).toEqual([[], ['root', 'call']])
})

test('a post that is repeated while it waits, or after it, is kept once', async () => {
  const owner = await newOwner()
  const id = idWith(true, 'again')
  for (const _ of [1, 2]) await owner.send(id, plain)
  expect(await owner.waiting()).toBe(2)
  await decided(owner)
  await owner.send(id, plain)
  expect(await owner.waiting()).toBe(0)
  const { body } = await owner.org.ask<Trace>('GET', `/traces/${id}`)
  expect([body.spans.length, body.duplicates]).toEqual([2, 0])
})

test('a post with many spans waits in pieces, and each span is stored once', async () => {
  const owner = await newOwner()
  const ids = Array.from({ length: 30 }, (_, n) => idWith(true, `pieces ${n}`))
  const spans = Array.from({ length: 400 }, (_, n): GivenSpan => ({ id: `s${n}`, service: 'shop', from: n, to: n + 1 }))
  await sendSpans(
    owner.org,
    app.clock.nowMs() - 60_000,
    ids.map((id) => [id, spans] as const),
  )
  const { meta } = app.app.world
  const pieces = await meta.all<{ events: number }>(sql`select events from waiting_spans where org_id = ${owner.org.orgId}`)
  expect(pieces.length).toBeGreaterThan(1)
  expect(pieces.reduce((sum, { events }) => sum + events, 0)).toBe(12_000)
  await decided(owner)
  for (const id of [ids[0], ids[24], ids[29]]) {
    const { body } = await owner.org.ask<Trace>('GET', `/traces/${id}`)
    expect([body.spans.length, body.duplicates]).toEqual([400, 0])
  }
})

test('kept spans wait while a limit is reached, and are stored when it is gone', async () => {
  const owner = await newOwner()
  const { org } = owner
  const id = idWith(true, 'limited')
  await owner.send(id, plain)
  await org.ask('POST', '/', { raw: 'used up', headers: { 'content-type': 'text/plain' } })
  const body = { category: 'INGESTION_LIMITS', value: 1, unit: 'BYTES', target: 'ORGANISATION', time_window: 'PER_MONTH' }
  const limit = await org.ask<{ id: string }>('POST', '/limits', { body: { ...body, scope: { organisation: { id: org.orgId } } } })
  expect(limit.status).toBe(201)
  app.clock.advance((WAIT_S + 1) * 1_000)
  const postponed = sql`select 1 from waiting_spans where org_id = ${org.orgId} and ended_at is null and due_at > ${app.clock.nowMs()}`
  await vi.waitFor(async () => expect(await app.app.world.meta.all(postponed)).toHaveLength(2), POLLED)
  expect(await owner.waiting()).toBe(2)
  expect((await org.ask('DELETE', `/limits/${limit.body.id}`)).status).toBeLessThan(300)
  app.clock.advance(60_000)
  await decided(owner)
  expect(await owner.spansOf(id)).toEqual(['root', 'call'])
})

test('rules behind it apply to what is kept, and their attributes stay', async () => {
  const owner = await newOwner()
  await owner.org.ask('POST', '/ingest-rules', { body: { ...rule, name: 'tag', action: { type: 'SET_TAGS', tags: { team: 'shop' } } } })
  const id = idWith(true, 'behind')
  await owner.send(id, plain)
  await decided(owner)
  const { body } = await owner.org.ask<Trace>('GET', `/traces/${id}`)
  expect(body.spans.map(({ attributes }) => attributes)).toEqual([
    expect.objectContaining({ $team: 'shop', '$sampling.weight': '4' }),
    expect.objectContaining({ $team: 'shop', '$sampling.weight': '4', '$cart.id': 'cart-call' }),
  ])
})

test('spans that a process has accepted before it ended are decided by others, each once', async () => {
  const database = await makeServiceDatabase(inject('stores'))
  const open = () => openTestApp({ DENDRO_POSTGRES_URL: database.url }, () => [], undefined, { readsSources: true })
  const first = await openTestApp({ DENDRO_POSTGRES_URL: database.url }, () => [])
  const others: TestApp[] = []
  try {
    const owner = await newOwner(first)
    const ids = Array.from({ length: 8 }, (_, n) => idWith(n % 2 === 0, `many ${n}`))
    for (const id of ids) await owner.send(id, plain)
    expect(await owner.waiting()).toBe(16)
    await first.close()
    others.push(await open(), await open())
    const [second, third] = others as [TestApp, TestApp]
    for (const { clock } of others) clock.advance((WAIT_S + 1) * 1_000)
    await vi.waitFor(async () => expect(await waitingOf(second, owner.org)).toBe(0), POLLED)
    const { key } = owner.org
    for (const [n, id] of ids.entries()) {
      const { status, body } = await third.ask<Trace>('GET', `/traces/${id}`, { key })
      expect([status, body.spans?.length, body.duplicates]).toEqual(n % 2 === 0 ? [200, 2, 0] : [404, undefined, undefined])
    }
  } finally {
    for (const other of others) await other.close()
    await database.drop()
  }
}, 300_000)

test('a process looks seldom while no rule lets spans wait, and often again from the first rule on', async () => {
  const database = await makeServiceDatabase(inject('stores'))
  const alone = await openTestApp({ DENDRO_POSTGRES_URL: database.url }, () => [])
  try {
    const { clock, log, meta, ledger } = alone.app.world
    const intake = { storeMessages: () => Promise.reject(new Error('nothing is due')) }
    const job = { id: NIL_ID, orgId: undefined, payload: {}, attempt: 1, fence: 1, signal: new AbortController().signal }
    const again = async () =>
      (await tailSampling({ clock, log, meta, ledger, intake }).run({ ...job, hold: () => Promise.resolve() }))?.againInMs
    expect(await again()).toBe(10_000)
    const owner = await newOwner(alone)
    expect(await again()).toBe(1_000)
    await owner.send(idWith(true, 'alone'), plain)
    expect((await owner.org.ask('DELETE', `/ingest-rules/${owner.ruleId}`)).status).toBeLessThan(300)
    expect([await owner.waiting(), await again()]).toEqual([2, 1_000])
  } finally {
    await alone.close()
    await database.drop()
  }
})

test('the spans of an organization wait only as long as it leaves as much room for others', async () => {
  const [first, second] = [await newOwner(), await newOwner()]
  const { world } = app.app
  for (const { org, send } of [first, second]) {
    await send(idWith(true, org.orgId), plain)
    expect(await first.waiting()).toBe(2)
  }
  const bytesOf = async (orgId?: string): Promise<number> =>
    (
      await world.meta.one<{ bytes: number }>(sql`
        select coalesce(sum(octet_length(body) + octet_length(traces)), 0)::int as bytes from waiting_spans
        where ended_at is null and (org_id = ${orgId ?? null}::uuid or ${orgId ?? null}::uuid is null)`)
    )?.bytes ?? 0
  const actor = (orgId: string) => ({ orgId, orgNumber: 1, identity: {}, name: '', facts: factsOfWork('spans.sample') }) as unknown as Actor
  const keep = (orgId: string, bounds: WaitingBounds) => keepWaitingSpans(world, actor(orgId), 'test', [], bounds)
  const [own, all] = [await bytesOf(first.org.orgId), await bytesOf()]
  expect(own).toBeGreaterThan(0)
  const refused = { status: 503, message: 'too many spans wait for the decision which traces are stored' }
  await keep(first.org.orgId, { ownBytes: own, allBytes: all + own + 1 })
  await expect(keep(first.org.orgId, { ownBytes: own, allBytes: all + own })).rejects.toMatchObject(refused)
  await expect(keep(first.org.orgId, { ownBytes: own - 1, allBytes: all + own + 1 })).rejects.toMatchObject(refused)
  // Whoever has nothing that waits still has room.
  await keep((await app.newOrganization()).orgId, { ownBytes: own, allBytes: all + 1 })
  expect(mayWait({ own: 0, all: 10 }, { ownBytes: 10, allBytes: 10 })).toBe(false)
  for (const owner of [first, second]) await decided(owner)
})

describe('with a process that ends', () => {
  test('spans that wait are decided by another one, and a half-done decision is finished as it was', async () => {
    const owner = await newOwner()
    const { meta } = app.app.world
    const [kept, dropped] = [idWith(false, 'half k'), idWith(true, 'half d')]
    await owner.send(kept, plain)
    await owner.send(dropped, plain)
    // A process has decided, against what the rule says now, and has ended before it stored anything.
    for (const [trace, weight] of [
      [kept, 1],
      [dropped, 0],
    ] as const) {
      await meta.run(sql`insert into trace_decisions (org_id, trace_id, weight, decided_at)
        values (${owner.org.orgId}, ${Buffer.from(trace, 'hex')}, ${weight}, ${app.clock.nowMs()})`)
    }
    await decided(owner)
    expect([await owner.spansOf(kept), await owner.spansOf(dropped)]).toEqual([['root', 'call'], []])
  })

  test('spans that were stored before the post could be ended are not stored again', async () => {
    const owner = await newOwner()
    const { meta } = app.app.world
    const id = idWith(true, 'twice')
    await owner.send(id, plain)
    const [row] = await meta.all<{ id: string; body: Buffer; traces: Buffer }>(
      sql`select id, body, traces from waiting_spans where org_id = ${owner.org.orgId}`,
    )
    await decided(owner)
    await meta.run(sql`update waiting_spans set ended_at = null, body = ${row?.body}, traces = ${row?.traces} where id = ${row?.id}`)
    await vi.waitFor(async () => expect(await owner.waiting()).toBe(0), POLLED)
    const { body } = await owner.org.ask<Trace>('GET', `/traces/${id}`)
    expect([body.spans.length, body.duplicates]).toEqual([2, 0])
  })
})

test('numbers of spans and calls count what sampled traces stand for, and say that they are estimates', async () => {
  const owner = await newOwner()
  const ids = [idWith(true, 'w1'), idWith(true, 'w2'), idWith(false, 'w3')]
  for (const id of ids) await owner.send(id, plain)
  await owner.send(
    idWith(false, 'w4'),
    plain.map((span) => ({ ...span, error: 'no' })),
  )
  await decided(owner)
  const { body: operations } = await owner.org.ask<OperationList>('GET', '/traces/operations')
  expect(operations.is_exact).toBe(false)
  // Two of about eight others, and the failed one, which stands for itself.
  expect(operations.operations.map(({ service, spans, errors }) => [service, spans, errors]).toSorted()).toEqual([
    ['pay', 9, 1],
    ['shop', 9, 1],
  ])
  const { body: map } = await owner.org.ask<CallList>('GET', '/traces/calls')
  expect(map).toMatchObject({
    ...{ is_exact: false, spans_total: 6, spans_read: 6 },
    calls: [{ from: 'shop', to: 'pay', calls: 9, errors: 1 }],
  })
  expect(map.services.toSorted((one, other) => (one.service < other.service ? -1 : 1))).toEqual([
    { service: 'pay', spans: 9, errors: 1 },
    { service: 'shop', spans: 9, errors: 1 },
  ])
})

test('lists, histograms and what changed say that traces are sampled, and count by weight or say that they do not', async () => {
  const owner = await newOwner()
  for (const id of [idWith(true, 'h1'), idWith(true, 'h2'), idWith(false, 'h3')]) await owner.send(id, plain)
  await owner.send(
    idWith(false, 'h4'),
    plain.map((span) => ({ ...span, error: 'no' })),
  )
  const before = await owner.org.ask<TraceList>('GET', '/traces?durations=true')
  expect(before.body).toMatchObject({ traces: [], durations: [], is_sampled: false })
  await decided(owner)
  const { body: list } = await owner.org.ask<TraceList>('GET', '/traces?durations=true&spans=root')
  expect(list.is_sampled).toBe(true)
  expect(list.durations?.map(({ spans, errors }) => [spans, errors])).toEqual([[9, 1]])
  expect(list.traces.map(({ weight }) => weight).toSorted()).toEqual([4, 4, undefined])
  const { body: failing } = await owner.org.ask<TraceList>('GET', '/traces?durations=true&status=error')
  expect([failing.is_sampled, failing.durations?.reduce((sum, { spans }) => sum + spans, 0)]).toEqual([false, 2])
  const { body: changes } = await owner.org.ask<ChangesReply>('POST', '/changes', {
    body: { from_expr: "collection = '.traces'", time_range: 'Last 1 hour' },
  })
  expect([changes.is_sampled, changes.range.count]).toEqual([true, 6])
  const { body: differences } = await owner.org.ask<{ is_sampled: boolean; traces: number }>('GET', '/traces/differences?status=error')
  expect(differences).toMatchObject({ is_sampled: true, traces: 1, other_traces: 2 })
  // A formula weighs what a chart or a monitor counts.
  const query = (name: string, select: string, where = '') => ({ name, select: [select], from_expr: "collection = '.traces'", where })
  const { body: series } = await owner.org.ask<Record<string, MetricTimeseries>>('POST', '/timeseries/search', {
    body: {
      queries: [
        query('stored', 'count(*)'),
        query('weights', 'sum($sampling.weight)'),
        query('sampled', 'count(*)', '$sampling.weight IS NOT NULL'),
      ],
      formulas: [{ name: 'spans', expression: 'stored + weights - sampled' }],
      time_range: { natural: 'Last 1 hour' },
      num_of_slices: 1,
    },
  })
  expect(series.spans?.series.map(({ value }) => value)).toEqual([18])
})

test('several weights are counted each, and rare ones by their mean', async () => {
  const owner = await newOwner()
  const { meta } = app.app.world
  for (let weight = 2; weight <= 11; weight += 1) {
    const id = idWith(true, `m${weight}`)
    await owner.send(id, plain)
    await meta.run(sql`insert into trace_decisions (org_id, trace_id, weight, decided_at)
      values (${owner.org.orgId}, ${Buffer.from(id, 'hex')}, ${weight}, ${app.clock.nowMs()})`)
  }
  await decided(owner)
  const { body } = await owner.org.ask<TraceList>('GET', '/traces?durations=true&spans=root')
  // 2 + 3 + … + 11, of which only some weights are read apart.
  expect(body.durations?.map(({ spans }) => spans)).toEqual([65])
  expect(body.traces.map(({ weight }) => weight ?? 1).toSorted((one, other) => one - other)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})

test.each<[string, object, string]>([
  ['a share above 1', { keep: 2 }, 'action.keep'],
  ['a wait of an hour', { wait_s: 3_600 }, 'action.wait_s'],
  ['no time at all', { slower_than_ms: 0 }, 'action.slower_than_ms'],
])('%s is refused by name', async (_, own, field) => {
  const org = await app.newOrganization()
  const { status, body } = await org.ask<FailureBody>('POST', '/ingest-rules', { body: { ...rule, action: { ...action, ...own } } })
  expect([status, body.errors?.map((error) => error.field)]).toEqual([400, [field]])
})

test('a preview is refused, since single events do not tell', async () => {
  const { org } = await newOwner()
  const { status, body } = await org.ask<FailureBody>('POST', '/ingest-rules/preview', {
    body: { from_expr: rule.from_expr, where: '', action },
  })
  expect([status, body.errors?.map(({ code }) => code)]).toEqual([400, ['NO_PREVIEW']])
})
