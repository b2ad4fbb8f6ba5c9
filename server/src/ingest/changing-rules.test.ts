import type { FailureBody, IngestRule, LedgerCounts } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

/** A new organization with ways to create rules, to send, and to read what is stored. */
async function newOwner() {
  const owner = await senders.app.newOrganization()
  return {
    owner,
    rule: async (action: object, rule: object = {}): Promise<IngestRule> => {
      const body = { name: 'rule', from_expr: '*', action, ...rule }
      const reply = await owner.ask<IngestRule & FailureBody>('POST', '/ingest-rules', { body })
      expect([reply.status, reply.body.details]).toEqual([201, undefined])
      return reply.body
    },
    post: (raw: string, headers: Record<string, string> = {}, path = '/') =>
      senders.post(raw, { owner, headers: { 'x-service-dataset': 'web', ...headers }, path }),
    events: (dataset = 'web', collection = 'default') => senders.eventsIn(dataset, collection, owner),
    lines: async (dataset = 'web', collection = 'default') => (await senders.eventsIn(dataset, collection, owner)).map(({ line }) => line),
    ledger: async () => (await owner.ask<{ totals: LedgerCounts }>('GET', '/ledger')).body.totals,
  }
}

describe('fields', () => {
  test('are added, renamed and removed in JSON lines; all other bytes stay', async () => {
    const { rule, post, lines, ledger } = await newOwner()
    const { id } = await rule({
      type: 'RENAME_FIELDS',
      fields: [
        { from: 'usr', to: 'user' },
        { from: 'http.code', to: 'status' },
      ],
    })
    await rule({ type: 'REMOVE_FIELDS', names: ['debug', 'http.headers.cookie'] })
    await rule({
      type: 'ADD_FIELDS',
      fields: [
        { name: 'env', value: 'pr"od' },
        { name: 'team.name', value: 'a' },
      ],
    })
    await post(
      [
        '{"n":1.0, "usr":12345678901234567890,"http":{"code":200,"headers":{"cookie":"x","h":1}},"debug":{"a":[1,{"b":2}]}}',
        '{"user":"old","usr":"new","env":"dev"}',
        '{}',
        '{"broken":1',
      ].join('\n'),
    )
    expect(await lines()).toEqual([
      '{"n":1.0,"http":{"headers":{"h":1}},"user":12345678901234567890,"status":200,"env":"pr\\"od","team.name":"a"}',
      '{"user":"new","env":"pr\\"od","team.name":"a"}',
      '{"env":"pr\\"od","team.name":"a"}',
      '{"broken":1',
    ])
    expect(await ledger()).toMatchObject({ received: 4, stored: 4, rules: { [id]: 2 }, balances: true })
  })

  test('stand beside text lines, and the rules that follow read and change them', async () => {
    const { rule, post, events } = await newOwner()
    await rule({ type: 'ADD_FIELDS', fields: [{ name: 'owner', value: 'ann@example.org' }] }, { where: "'login'" })
    await rule({ type: 'REDACT', kinds: ['EMAIL'] })
    await rule({ type: 'RENAME_FIELDS', fields: [{ from: 'owner', to: 'who' }] })
    await rule({ type: 'ADD_FIELDS', fields: [{ name: 'seen', value: 'yes' }] }, { where: "who = '[REDACTED]'" })
    await post('first\na login\nlast')
    const stored = await events()
    expect(stored.map(({ line }) => line)).toEqual(['first', 'a login', 'last'])
    expect(stored.map(({ keys }) => [keys.who, keys.seen, keys.owner])).toEqual([
      [undefined, undefined, undefined],
      ['[REDACTED]', 'yes', undefined],
      [undefined, undefined, undefined],
    ])
  })

  test('that a protocol adds are renamed and removed too', async () => {
    const { rule, post, events } = await newOwner()
    await rule({ type: 'RENAME_FIELDS', fields: [{ from: '$app', to: 'application' }] })
    await rule({ type: 'REMOVE_FIELDS', names: ['$host'] })
    const nowNs = `${senders.app.clock.nowMs()}000000`
    const body = { streams: [{ stream: { app: 'a', host: 'h', kept: 'k' }, values: [[nowNs, 'hi']] }] }
    expect((await post(JSON.stringify(body), { 'content-type': 'application/json' }, '/loki/api/v1/push')).status).toBeLessThan(300)
    const [event] = await events()
    expect([event?.keys.application, event?.keys.$app, event?.keys.$host, event?.keys.$kept]).toEqual(['a', undefined, undefined, 'k'])
  })

  test('are parsed from lines, messages and keys', async () => {
    const { rule, post, events, lines } = await newOwner()
    await rule({ type: 'PARSE', format: 'DISSECT', pattern: 'order %{order} by %{user}' })
    await rule({ type: 'PARSE', format: 'GROK', pattern: '^/%{WORD:area}', key: 'path' })
    await post('order 7 by ann\n{"message":"order 8 by bob","user":"own","path":"/shop/x"}\nelse')
    expect(await lines()).toEqual([
      'order 7 by ann',
      '{"message":"order 8 by bob","user":"own","path":"/shop/x","order":"8","area":"shop"}',
      'else',
    ])
    expect(Object.entries((await events())[0]?.keys ?? {})).toEqual(
      expect.arrayContaining([
        ['order', '7'],
        ['user', 'ann'],
      ]),
    )
  })
})

describe('tags', () => {
  test('are set on matching events and replace those of the request', async () => {
    const { rule, post, events, ledger } = await newOwner()
    const { id } = await rule({ type: 'SET_TAGS', tags: { env: 'test', team: 'shop' } }, { where: "n = '2'" })
    await post('{"n":1}\n{"n":2}', { 'x-service-tags': 'env=prod' })
    const stored = await events()
    expect(stored.map(({ line, keys }) => [line, keys.$env, keys.$team])).toEqual([
      ['{"n":1}', 'prod', undefined],
      ['{"n":2}', 'test', 'shop'],
    ])
    expect(await ledger()).toMatchObject({ received: 2, stored: 2, rules: { [id]: 1 }, balances: true })
  })
})

describe('datasets', () => {
  test('matching events are stored in another dataset; the rules behind that select it apply', async () => {
    const { rule, post, lines, ledger } = await newOwner()
    await rule({ type: 'DROP' }, { from_expr: "dataset = 'errors'", where: "'first'" })
    const moving = await rule({ type: 'SET_DATASET', collection: 'ops', dataset: 'errors' }, { where: "level = 'error'" })
    const cleaning = await rule({ type: 'REDACT', kinds: ['EMAIL'] }, { from_expr: "dataset = 'errors'" })
    const reply = await post(
      ['{"level":"error","m":"first"}', '{"level":"info","m":"ann@example.org"}', '{"level":"error","m":"by bob@example.org"}'].join('\n'),
    )
    expect([reply.status, reply.body]).toEqual([200, { accepted: 3, rejected: 0 }])
    expect(await lines()).toEqual(['{"level":"info","m":"ann@example.org"}'])
    expect(await lines('errors', 'ops')).toEqual(['{"level":"error","m":"first"}', '{"level":"error","m":"by [REDACTED]"}'])
    expect(await ledger()).toMatchObject({
      received: 3,
      stored: 3,
      dropped: 0,
      rules: { [moving.id]: 2, [cleaning.id]: 1 },
      balances: true,
    })
  })

  test('a post under one key to both datasets is stored once, whatever moves, and in one order', async () => {
    const { rule, post, events, ledger } = await newOwner()
    const from = async (dataset: string) => (await events(dataset)).map(({ line, keys }) => `${line} ${keys.from}`)
    await rule({ type: 'SET_DATASET', dataset: 'b' }, { from_expr: "dataset = 'a'", where: "'move'" })
    await rule({ type: 'SET_DATASET', dataset: 'c' }, { from_expr: "dataset = 'b'", where: "'again'" })
    const bulk = ['a', 'b'].flatMap((name) =>
      ['stay', 'move', 'move again'].flatMap((message) => [`{"create":{"_index":"${name}"}}`, JSON.stringify({ message, from: name })]),
    )
    for (const _ of [1, 2]) {
      const headers = { 'idempotency-key': 'k', 'x-service-dataset': '', 'content-type': 'application/x-ndjson' }
      expect((await post(`${bulk.join('\n')}\n`, headers, '/_bulk')).status).toBe(200)
    }
    const text = (message: string, from: string) => `${message} ${from}`
    expect(await from('a')).toEqual([text('stay', 'a')])
    expect((await from('b')).toSorted()).toEqual([text('move', 'a'), text('move', 'b'), text('stay', 'b')].toSorted())
    expect((await from('c')).toSorted()).toEqual([text('move again', 'a'), text('move again', 'b')])
    expect(await ledger()).toMatchObject({ received: 12, stored: 6, duplicate: 6, balances: true })
  })

  test('everything may move', async () => {
    const { rule, post, lines, ledger } = await newOwner()
    await rule({ type: 'SET_DATASET', dataset: 'elsewhere' })
    expect((await post('one\ntwo')).body).toEqual({ accepted: 2, rejected: 0 })
    expect([await lines(), await lines('elsewhere')]).toEqual([[], ['one', 'two']])
    expect(await ledger()).toMatchObject({ received: 2, stored: 2, balances: true })
  })
})
