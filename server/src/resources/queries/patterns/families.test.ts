import type { PatternRow } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app.close())

async function send(dataset: string, messages: readonly string[]): Promise<void> {
  await sendLines(
    dataset,
    messages.map((message) => JSON.stringify({ message })),
  )
}

async function sendLines(dataset: string, lines: readonly string[]): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  const raw = lines.join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
}

async function patternsOf(dataset: string): Promise<PatternRow[]> {
  const body = { search_details: { from_expr: `dataset = '${dataset}'` } }
  const reply = await org.ask<{ patterns: PatternRow[] }>('POST', '/patterns', { body })
  expect(reply.status).toBe(200)
  return reply.body.patterns
}

const shown = (patterns: readonly PatternRow[]) => patterns.map(({ template, count }) => [template, count])

async function search(dataset: string, where: string, select: string[] = ['@pattern']) {
  const body = { from_expr: `dataset = '${dataset}'`, select, where, time_range: 'Last 1 hour' }
  const reply = await org.ask<{ totals: { count: number }; result: Record<string, string>[] }>('POST', '/search', { body })
  expect(reply.status).toBe(200)
  return reply.body
}

test('orders by many users are one pattern, whose id finds them all, also those that arrive later', async () => {
  await send('orders', ['order 1 placed by grace'])
  const [alone] = await patternsOf('orders')
  expect(alone).toMatchObject({ template: 'order <*> placed by grace', count: 1 })
  await send('orders', ['order 2 placed by barbara', 'order 3 placed by katherine', 'order 4 canceled by the system'])
  const [family, other] = await patternsOf('orders')
  expect(family).toMatchObject({ template: 'order <*> placed by <*>', count: 3 })
  expect(other).toMatchObject({ template: 'order <*> canceled by the system', count: 1 })
  const id = family?.id ?? ''
  expect(id).not.toBe(alone?.id)
  expect((await search('orders', `@pattern = '${id}'`)).totals.count).toBe(3)
  // The id of the single pattern still finds its events, which name their family.
  expect(await search('orders', `@pattern = '${alone?.id}'`)).toMatchObject({ totals: { count: 1 }, result: [{ '@pattern': id }] })
  await send('orders', ['order 5 placed by margaret', 'order 6 placed by grace'])
  expect((await search('orders', `@pattern = '${id}'`)).totals.count).toBe(5)
  expect((await search('orders', `@pattern != '${id}'`)).totals.count).toBe(1)
  expect((await search('orders', `@pattern IN ('${id}', '${other?.id}')`)).totals.count).toBe(6)
  expect((await search('orders', `@pattern IS NULL`)).totals.count).toBe(0)
  expect((await patternsOf('orders'))[0]).toEqual({ ...family, count: 5 })
})

test('methods, levels, states and verbs stay apart', async () => {
  const verbs = ['started', 'stopped', 'failed', 'restarted', 'paused']
  const methods = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD']
  await send('verbs', [
    ...verbs.map((verb, index) => `job ${index} ${verb}`),
    ...methods.map((method, index) => `"${method} /api/orders/${index} HTTP/1.1" 200`),
    ...['UP', 'DOWN', 'TESTING'].map((state, index) => `link ${index} is ${state}`),
    ...['INFO', 'WARN', 'ERROR', 'DEBUG'].map((level) => `${level} disk check done`),
  ])
  expect(shown(await patternsOf('verbs')).map(([template]) => template)).toHaveLength(verbs.length + methods.length + 3 + 4)
})

test('datasets are independent: a family of one does not gather the patterns of another', async () => {
  await send('east', ['login of ada ok', 'login of grace ok', 'login of linus ok'])
  await send('west', ['login of ada ok'])
  expect(shown(await patternsOf('east'))).toEqual([['login of <*> ok', 3]])
  expect(shown(await patternsOf('west'))).toEqual([['login of ada ok', 1]])
  const body = { search_details: { from_expr: "dataset IN ('east', 'west')" } }
  const { patterns } = (await org.ask<{ patterns: PatternRow[] }>('POST', '/patterns', { body })).body
  expect(shown(patterns)).toEqual([
    ['login of <*> ok', 3],
    ['login of ada ok', 1],
  ])
})

test('concurrent queries compute the families once', async () => {
  await send(
    'race',
    ['ada', 'grace', 'linus', 'dennis', 'barbara'].flatMap((user) => [`session of ${user} opened`, `mail to ${user} sent`]),
  )
  const answers = await Promise.all(Array.from({ length: 6 }, () => patternsOf('race')))
  for (const answer of answers) expect(answer).toEqual(answers[0])
  expect(shown(answers[0] ?? [])).toEqual(
    expect.arrayContaining([
      ['session of <*> opened', 5],
      ['mail to <*> sent', 5],
    ]),
  )
})

type Values = {
  count: number
  placeholders: { kind: string; distinct: number; values: { value: string; count: number; where?: string }[] }[]
}

async function valuesOf(dataset: string, id: string | undefined, limit = 10) {
  const body = { search_details: { from_expr: `dataset = '${dataset}'` }, id, limit }
  const reply = await org.ask<Values>('POST', '/patterns/values', { body })
  expect(reply.status).toBe(200)
  return reply.body
}

test('the values of each variable part are counted exactly, and a part with one value shows it', async () => {
  const users = ['ada', 'grace', 'ada', 'linus', 'ada', 'grace']
  await send('values', [...users.map((user, n) => `login of ${user} from 10.0.0.${n % 2} port 22 took ${n + 1} ms`), 'something else'])
  const family = (await patternsOf('values'))[0]
  expect(await valuesOf('values', family?.id, 2)).toEqual({
    id: family?.id,
    family: family?.id,
    template: 'login of <*> from <*> port <*> took <*>',
    text: 'login of <word> from <ip> port 22 took <duration>',
    count: 6,
    placeholders: [
      {
        kind: 'word',
        count: 6,
        distinct: 3,
        values: [
          { value: 'ada', count: 3, where: expect.any(String) },
          { value: 'grace', count: 2, where: expect.any(String) },
        ],
      },
      {
        kind: 'ip',
        count: 6,
        distinct: 2,
        values: [
          { value: '10.0.0.0', count: 3, where: expect.any(String) },
          { value: '10.0.0.1', count: 3, where: expect.any(String) },
        ],
      },
      { kind: 'n', count: 6, distinct: 1, values: [{ value: '22', count: 6, where: expect.any(String) }] },
      {
        kind: 'duration',
        count: 6,
        distinct: 6,
        values: [
          { value: '1 ms', count: 1, where: expect.any(String) },
          { value: '2 ms', count: 1, where: expect.any(String) },
        ],
      },
    ],
  })
  expect(await valuesOf('values', 'ffffffffffffffff')).toEqual({
    id: 'ffffffffffffffff',
    template: '',
    text: '',
    count: 0,
    placeholders: [],
  })
  expect((await org.ask('POST', '/patterns/values', { body: { search_details: { from_expr: '*' }, id: 'x' } })).status).toBe(400)
})

test.each([
  [
    'names',
    ['ada', 'grace', 'ada lovelace', 'ada'].map((user, n) => JSON.stringify({ message: `mail (a+b) of ${user} to 10.0.0.${n % 3}` })),
  ],
  ['lines', ['ada', 'grace', "o'hara\\n", 'ada'].map((user, n) => `mail of <${user}> sent to 10.0.0.${n % 3}`)],
  ['signs', ['a+(b', "o'c\\\\d", 'a*', 'tab\tab'].map((path, n) => JSON.stringify({ message: `file "${path}" opened ${n % 2} times` }))],
  ['msg', ['ada', 'grace', 'linus', 'ada'].map((user, n) => JSON.stringify({ msg: `call of ${user}\ttook ${n + 1} ms` }))],
])('the condition of a value selects exactly its events: %s', async (dataset, lines) => {
  await sendLines(dataset, lines)
  for (const { id } of await patternsOf(dataset)) {
    const { placeholders } = await valuesOf(dataset, id)
    for (const { values } of placeholders) {
      for (const { value, count, where } of values)
        expect((await search(dataset, where ?? '')).totals.count, `${value}: ${where}`).toBe(count)
    }
  }
})

test('a value has no condition if messages can be divided in several ways, or have their text under several keys', async () => {
  // Grace moved from 1 to "2 to 3". A condition on 3 in the third place would find her, too: from "1 to 2" to 3.
  await send('ways', ['user ada moved 1 to 2', 'user grace moved 1 to 2 to 3', 'user linus moved 2 to 3'])
  await sendLines(
    'keys',
    ['message', 'msg'].map((key, n) => JSON.stringify({ [key]: `batch ${n} done` })),
  )
  const conditions = async (dataset: string) => {
    const [family] = await patternsOf(dataset)
    return (await valuesOf(dataset, family?.id)).placeholders.map(({ values }) => values.map(({ where }) => where !== undefined))
  }
  expect(await conditions('ways')).toEqual([
    [true, true, true],
    [false, false],
    [false, false, false],
  ])
  expect(await conditions('keys')).toEqual([[false, false]])
})
