import type { FailureBody, IngestRule, LedgerCounts } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'
import type { TestOrganization } from '../../../test/support/world.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

const CARD = '4111 1111 1111 1111'
const to = (dataset: string) => ({ 'x-service-dataset': dataset })

/** A new organization with ways to create rules, to send, and to read its ledger. */
async function newOwner() {
  const owner = await senders.app.newOrganization()
  return {
    owner,
    rule: async (rule: Record<string, unknown>): Promise<IngestRule> => {
      const { status, body } = await owner.ask<IngestRule & FailureBody>('POST', '/ingest-rules', {
        body: { name: 'rule', from_expr: '*', ...rule },
      })
      expect([status, body.details]).toEqual([201, undefined])
      return body
    },
    post: (raw: string, headers: Record<string, string> = to('web'), path = '/') => senders.post(raw, { owner, headers, path }),
    lines: async (dataset = 'web') => (await senders.eventsIn(dataset, 'default', owner)).map(({ line }) => line),
    ledger: async () => (await owner.ask<{ totals: LedgerCounts }>('GET', '/ledger')).body.totals,
  }
}

const drop = (where: string) => ({ where, action: { type: 'DROP' } })
const redact = (kinds: string[], more = {}) => ({ action: { type: 'REDACT', kinds, ...more } })

describe('drop', () => {
  test('events that match are accepted, not stored, and counted by rule; the ledger balances', async () => {
    const { rule, post, lines, ledger } = await newOwner()
    const { id } = await rule(drop("level = 'debug'"))
    const reply = await post(
      '{"level":"debug","n":1}\n{"level":"info","n":2}\nplain debug text\nlevel=debug a=1 b=2\n{"level":"debug","n":3}',
    )
    expect([reply.status, reply.body]).toEqual([200, { accepted: 5, rejected: 0 }])
    expect(await lines()).toEqual(['{"level":"info","n":2}', 'plain debug text'])
    expect(await ledger()).toMatchObject({
      received: 5,
      stored: 2,
      dropped: 3,
      dropped_bytes: 23 + 19 + 23,
      rejected: 0,
      rules: { [id]: 3 },
      balances: true,
    })
  })

  test('a post of which nothing is left is accepted, also repeatedly under its key', async () => {
    const { rule, post, lines, ledger } = await newOwner()
    await rule(drop(''))
    for (const repeated of [{}, { duplicates: 2 }]) {
      const reply = await post('one\ntwo', { ...to('web'), 'idempotency-key': 'k' })
      expect([reply.status, reply.body]).toEqual([200, { accepted: 2, rejected: 0, ...repeated }])
    }
    expect(await lines()).toEqual([])
    expect(await ledger()).toMatchObject({ received: 4, stored: 0, dropped: 4, balances: true })
  })

  test('only in the datasets of the rule, only in its organization, and not while it is disabled', async () => {
    const { owner, rule, post, lines } = await newOwner()
    const { id } = await rule({ from_expr: "dataset = 'noisy'", ...drop('') })
    await post('gone', to('noisy'))
    await post('kept', to('quiet'))
    expect([await lines('noisy'), await lines('quiet')]).toEqual([[], ['kept']])
    const stranger = await newOwner()
    await stranger.post('theirs', to('noisy'))
    expect(await stranger.lines('noisy')).toEqual(['theirs'])
    await owner.ask('PATCH', `/ingest-rules/${id}`, { body: { enabled: false } })
    await post('back', to('noisy'))
    expect(await lines('noisy')).toEqual(['back'])
  })
})

describe('sample', () => {
  test('keeps a share, and the same events in every dataset and at every repetition', async () => {
    const { rule, post, lines, ledger } = await newOwner()
    const { id } = await rule({ action: { type: 'SAMPLE', keep: 0.25, key: 'trace' } })
    const body = Array.from({ length: 400 }, (_, at) => JSON.stringify({ trace: `t${at >> 1}`, n: at & 1 })).join('\n')
    await post(body, to('a'))
    await post(body, to('b'))
    const [a, b] = [await lines('a'), await lines('b')]
    expect(a).toEqual(b)
    expect(a.length).toBeGreaterThan(60)
    expect(a.length).toBeLessThan(140)
    const counts = new Map<string, number>()
    for (const line of a) counts.set(JSON.parse(line).trace, (counts.get(JSON.parse(line).trace) ?? 0) + 1)
    expect([...new Set(counts.values())]).toEqual([2])
    expect(await ledger()).toMatchObject({
      received: 800,
      stored: 2 * a.length,
      dropped: 800 - 2 * a.length,
      rules: { [id]: 800 - 2 * a.length },
    })
  })

  test('keeps nothing at 0, everything at 1', async () => {
    const { owner, rule, post, lines } = await newOwner()
    const { id } = await rule({ action: { type: 'SAMPLE', keep: 0 } })
    await post('a\nb')
    await owner.ask('PATCH', `/ingest-rules/${id}`, { body: { action: { type: 'SAMPLE', keep: 1 } } })
    await post('c\nd')
    expect(await lines()).toEqual(['c', 'd'])
  })
})

describe('redact', () => {
  test('values in text lines, in names and values of JSON lines, and in numbers; JSON stays JSON', async () => {
    const { rule, post, lines, ledger } = await newOwner()
    const { id } = await rule(redact(['CARD_NUMBER', 'EMAIL']))
    await post(
      [
        `paid with ${CARD} by ann@example.org`,
        `{"card":4111111111111111,"user":{"ann@example.org":["x",{"mail":"bob@example.org"}]},"n":7}`,
        `{"text":"by \\u0061nn\\u0040example.org","inner":"{\\"mail\\":\\"c\\\\u0040example.org\\"}"}`,
        'nothing here: 1234567890123456, a@b, 2026-11-27 22:00:00.123456789',
      ].join('\n'),
    )
    expect(await lines()).toEqual([
      'paid with [REDACTED] by [REDACTED]',
      '{"card":"[REDACTED]","user":{"[REDACTED]":["x",{"mail":"[REDACTED]"}]},"n":7}',
      '{"text":"by [REDACTED]","inner":"{\\"mail\\":\\"[REDACTED]\\"}"}',
      'nothing here: 1234567890123456, a@b, 2026-11-27 22:00:00.123456789',
    ])
    expect(await ledger()).toMatchObject({ received: 4, stored: 4, dropped: 0, rules: { [id]: 3 }, balances: true })
  })

  test('own expressions, with their replacement', async () => {
    const { rule, post, lines } = await newOwner()
    await rule({
      action: {
        type: 'REDACT',
        expressions: [{ pattern: '^user-\\d+$' }, { pattern: 'PIN \\d+', ignore_case: true }],
        replacement: '"***"',
      },
    })
    await post('{"a":"user-17","b":"user-17 x","c":"pin 1234"}\npin 99\n{"broken":"pin 1')
    expect(await lines()).toEqual(['{"a":"\\"***\\"","b":"user-17 x","c":"\\"***\\""}', '"***"', '{"broken":"\\"***\\"'])
  })

  test('the values that a protocol adds: attributes, labels and levels', async () => {
    const { owner, rule, post, ledger } = await newOwner()
    const { id } = await rule(redact(['EMAIL']))
    const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const record = {
      timeUnixNano: `${senders.app.clock.nowMs()}000000`,
      severityText: 'eve@example.org',
      body: { stringValue: 'login of ann@example.org' },
      attributes: [attribute('user', 'bob@example.org')],
    }
    const resource = { attributes: [attribute('owner', 'carl@example.org'), attribute('service.name', 'shop')] }
    const body = {
      resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record, { ...record, body: { stringValue: 'x' }, attributes: [] }] }] }],
    }
    expect((await post(JSON.stringify(body), { 'content-type': 'application/json', ...to('web') }, '/v1/logs')).status).toBe(200)
    const loki = { streams: [{ stream: { app: 'a', owner: 'dan@example.org' }, values: [[`${senders.app.clock.nowMs()}000000`, 'hi']] }] }
    expect(
      (await post(JSON.stringify(loki), { 'content-type': 'application/json', ...to('web') }, '/loki/api/v1/push')).status,
    ).toBeLessThan(300)
    const events = await senders.eventsIn('web', 'default', owner)
    expect(events).toHaveLength(3)
    expect(JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('example.org')
    expect(await ledger()).toMatchObject({ received: 3, stored: 3, rules: { [id]: 3 }, balances: true })
  })

  test('the names of what a protocol adds', async () => {
    const { owner, rule, post, ledger } = await newOwner()
    const { id } = await rule(redact(['EMAIL'], { expressions: [{ pattern: 'trace' }] }))
    const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const record = {
      timeUnixNano: `${senders.app.clock.nowMs()}000000`,
      traceId: '5b8efff798038103d269b633813fc60c',
      body: { stringValue: 'x' },
      attributes: [attribute('ann@example.org', '1'), attribute('bob@example.org', '2'), attribute('n', '3')],
    }
    const ofResource = (attributes: object[], logRecords: object[]) => ({ resource: { attributes }, scopeLogs: [{ logRecords }] })
    const bare = { ...record, attributes: [] }
    const body = {
      resourceLogs: [
        ofResource([attribute('service.name', 'web')], [record]),
        ofResource([attribute('carl@example.org', '4'), attribute('service.name', 'web')], [bare]),
      ],
    }
    const json = { 'content-type': 'application/json', ...to('web') }
    expect((await post(JSON.stringify(body), json, '/v1/logs')).status).toBe(200)
    const tagged = [{ message: 'y', ddtags: 'dan@example.org,team:a', service: 'web' }]
    expect((await post(JSON.stringify(tagged), json, '/api/v2/logs')).status).toBe(202)
    const events = await senders.eventsIn('web', 'default', owner)
    expect(events).toHaveLength(3)
    const shown = JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    expect(shown).not.toContain('example.org')
    expect(shown).toContain('"$[REDACTED]"')
    expect(shown).toContain('"trace_id"')
    expect(await ledger()).toMatchObject({ received: 3, stored: 3, rules: { [id]: 3 }, balances: true })
  })
})

test('rules apply in their order, each to what the ones before leave', async () => {
  const { owner, rule, post, lines } = await newOwner()
  const first = await rule(redact(['EMAIL'], { replacement: 'secret' }))
  const second = await rule(drop("user = 'secret'"))
  await post('{"user":"ann@example.org"}\n{"user":"ann"}')
  expect(await lines()).toEqual(['{"user":"ann"}'])
  const { status } = await owner.ask('PUT', '/ingest-rules/order', { body: { rule_ids: [second.id, first.id] } })
  expect(status).toBe(200)
  await post('{"user":"bob@example.org"}')
  expect(await lines()).toEqual(['{"user":"ann"}', '{"user":"secret"}'])
})

describe('every protocol', () => {
  const nowNs = () => `${senders.app.clock.nowMs()}000000`
  test.each<[string, string, string, (owner: TestOrganization) => string]>([
    ['native', '/', 'application/x-ndjson', () => '{"message":"noise"}\n{"message":"kept"}'],
    ['native text', '/', 'text/plain', () => 'noise\nkept'],
    ['native array', '/', 'application/json', () => '[{"message":"noise"},{"message":"kept"}]'],
    [
      'OTLP',
      '/v1/logs',
      'application/json',
      () => {
        const logRecords = ['noise', 'kept'].map((stringValue) => ({ timeUnixNano: nowNs(), body: { stringValue } }))
        return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
      },
    ],
    [
      'Loki',
      '/loki/api/v1/push',
      'application/json',
      () =>
        JSON.stringify({
          streams: [
            {
              stream: { app: 'x' },
              values: [
                [nowNs(), 'noise'],
                [nowNs(), 'kept'],
              ],
            },
          ],
        }),
    ],
    ['HEC', '/services/collector/event', 'application/json', () => '{"event":"noise"}{"event":"kept"}'],
    ['bulk', '/_bulk', 'application/x-ndjson', () => '{"create":{}}\n{"message":"noise"}\n{"create":{}}\n{"message":"kept"}\n'],
  ])('%s', async (_, path, type, body) => {
    const { owner, rule, post, lines, ledger } = await newOwner()
    await rule(drop("'noise'"))
    const { status } = await post(body(owner), { 'content-type': type, ...to('web') }, path)
    expect(status).toBeLessThan(300)
    const stored = await vi.waitFor(async () => {
      const found = await lines()
      expect(found.length).toBeGreaterThan(0)
      return found
    }, 240_000)
    expect(stored).toHaveLength(1)
    expect(stored[0]).toContain('kept')
    expect(await ledger()).toMatchObject({ received: 2, stored: 1, dropped: 1, balances: true })
  })
})
