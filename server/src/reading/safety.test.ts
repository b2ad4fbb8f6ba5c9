import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../test/support/reader.ts'
import type { Failure } from '../kernel/errors.ts'
import { parseFilter } from '../query/query.ts'
import { eventsStatement } from './events/events-statement.ts'
import { keysIn, tableReadsFor } from './plan/table-reads.ts'
import type { EventQuery, EventsRequest } from './query.ts'
import { readEvents, readStats } from './reading.ts'
import { run, startQueryRun } from './run/run.ts'
import { bindStatement, constant, joined, param, sql } from './sql/sql.ts'
import { statsStatement } from './statistics/statistics-statement.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
  await reader.send('plain', ['{"k":"v","n":1}', '{"k":"w","n":2}'])
})
afterAll(() => reader?.close())

const request: EventsRequest = { limit: 10, newestFirst: true, keys: 'all', withRaw: true }
const store = () => reader.senders.app.app.world.events

describe('caller input reaches the store as parameters, never in the statement', () => {
  const hostile = [
    "x' or 1=1 --",
    "'); drop table events_s; --",
    '{p0:String}',
    '\\',
    "\\' or 1",
    '`',
    '"',
    '\t\n\r',
    '%_%',
    '\u{1f332}',
    'select',
    '$' + '{1}',
    '{{x}}',
    "a'||sleep(3)||'b",
  ]
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const key = (text: string) => `"${text.replaceAll('"', '""').replace(/[\t\n\r]/g, '_')}"`

  test('no value changes the text of a statement', async () => {
    const query = await reader.query(['plain'])
    const { fromMs, toMs } = { fromMs: 1_000, toMs: 2_000 }
    const textsOf = (where: string, group: string) => {
      const { filter } = parseFilter(where)
      const tableReads = tableReadsFor(query.sources, [...keysIn(filter), group])
      const events = eventsStatement(tableReads, { filter }, request, { fromMs, toMs })
      const ask = { calls: [], groups: [group], slices: 3, only: [group], top: 5 }
      const stats = statsStatement(tableReads, { filter, bounds: { fromMs, toMs } }, ask)
      return [events, stats].map((one) => one && bindStatement('whole' in one ? one.whole : one).text)
    }
    const whereOf = (text: string) =>
      `k = ${quoted(text)} OR ${key(`k${text}`)} = ${quoted(text)} OR k > ${quoted(`x${text}`)} OR k IN (${quoted(text)}, 'b') OR k LIKE ${quoted(`${text}c`)} OR ${quoted(`f${text}`)}`
    // A statement tests times in one of three ways: their zone, nothing, or their whole text, depending on the characters of the search text. They also decide
    // whether it may cross the border of a value of JSON, and how it is written in one.
    const calm = ['calm', '!calm', ' 1']
      .flatMap((text) => [text, ` ${text}`, `"${text}`, `ö${text}`, `<${text}`])
      .map((text) => textsOf(whereOf(text), `k${text}`))
    expect(calm.flat().every((text) => text !== undefined && text.length > 100)).toBe(true)
    for (const text of hostile) {
      expect(calm).toContainEqual(textsOf(whereOf(text.replace(/[\t\n\r]/g, '_')), `k${text}`))
    }
  })

  test('also where many values share a field, and there the store reads each as it is', async () => {
    const { statement: whole, wanted } = everyType(hostile)
    const { text, params } = bindStatement(whole, 0)
    expect(text).toEqual(bindStatement(everyType(hostile.map(() => 'calm')).statement, 0).text)
    const answer = await store().reader.query({
      query: text,
      query_params: { ...params },
      format: 'JSONCompactEachRow',
      clickhouse_settings: { log_comment: '1' },
    })
    expect(await answer.json()).toEqual([[wanted]])
  })

  test('and finds what it says', async () => {
    await reader.send(
      'hostile',
      hostile.map((text, id) => JSON.stringify({ id, text })),
    )
    for (const [id, text] of hostile.entries()) {
      const { filter } = {
        filter: { kind: 'compare', key: 'text', operator: '=', value: { kind: 'text', text }, at: { position: 0, length: 0 } } as const,
      }
      const { events } = await readEvents(store(), { ...(await reader.query(['hostile'])), filter }, request)
      expect(events.map(({ leaves }) => leaves.get('id'))).toEqual([String(id)])
    }
  })

  test('keys of any name are read', async () => {
    const names = hostile.map((text) => text.replace(/[\\\t\n\r]/g, '_')).filter((name, index, all) => all.indexOf(name) === index)
    await reader.send('names', [JSON.stringify(Object.fromEntries(names.map((one, index) => [one, `v${index}`])))])
    const { events } = await reader.events(['names'], names.map((one, index) => `${key(one)} = 'v${index}'`).join(' AND '))
    expect(events).toHaveLength(1)
    expect(Object.fromEntries(events[0]?.leaves ?? [])).toEqual(Object.fromEntries(names.map((one, index) => [one, `v${index}`])))
  })
})

test('events of another organization are not visible, even with their dataset id', async () => {
  const query = await reader.query(['plain'])
  expect((await readEvents(store(), query, request)).events).toHaveLength(2)
  expect((await readEvents(store(), { ...query, orgNumber: query.orgNumber + 1 }, request)).events).toEqual([])
})

function everyType(texts: readonly string[]) {
  const [numbers, wholes, uuid] = [[0.1, -1e300, 5e-324, 7], [-(2n ** 63n), 2n ** 63n - 1n], '0b1e7c1a-4a5e-4f0c-9a38-6f0b8f9e2a11']
  const pieces = [
    ...texts.map(param.text),
    ...numbers.map(param.float),
    ...wholes.map(param.int64),
    param.uint64(2n ** 64n - 1n),
    param.flag(true),
    param.uuid(uuid),
  ]
  const written = [
    ...texts,
    ...numbers.map((one) => String(one).replace('e+', 'e')),
    ...wholes.map(String),
    String(2n ** 64n - 1n),
    '1',
    uuid,
  ]
  return { statement: sql`select [${joined(pieces.map((one) => sql`toString(${one})`))}]`, wanted: written }
}

describe('a query that costs too much', () => {
  const refused = async (budget: Partial<EventQuery['budget']>) => {
    const query = await reader.query(['plain'])
    const failure = await readEvents(store(), { ...query, budget: { ...query.budget, ...budget } }, request).catch(
      (thrown: Failure) => thrown,
    )
    return 'status' in failure ? { status: failure.status, details: failure.message } : failure
  }

  test('is refused when it takes too much memory, and the next one is answered', async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => `{"id":"${n}-${'x'.repeat(60)}"}`)
    for (let at = 0; at < many.length; at += 5_000) await reader.send('memory', many.slice(at, at + 5_000))
    const query = await reader.query(['memory'])
    const ask = (memoryBytes: number) =>
      readStats(store(), { ...query, budget: { ...query.budget, memoryBytes } }, { calls: [], groups: ['id'], slices: 1, limit: 3 })
    expect(await ask(2_000_000).catch(({ status, message }: Failure) => ({ status, message }))).toEqual({
      status: 400,
      message: expect.stringContaining('more data than the memory limit'),
    })
    expect((await ask(2 ** 30)).groupsTotal).toBe(20_000)
  })

  test('is refused when it sorts and groups more on disk than it may, and is answered when it may', async () => {
    const query = await reader.query(['memory'])
    const group = (spillBytes: number) => {
      const queryRun = startQueryRun({ ...query, budget: { ...query.budget, memoryBytes: 2 ** 27, spillBytes } })
      return run(store(), queryRun, sql`select count() from (select toString(number) as text from numbers(3000000) group by text)`)
    }
    expect(await group(1_000_000).catch(({ status, message }: Failure) => ({ status, message }))).toEqual({
      status: 400,
      message: expect.stringMatching(/more data than one query may sort and group on disk; narrow the time range/),
    })
    expect((await group(2 ** 30)).uint64()).toBe(3_000_000n)
  })

  test('groups of more values than an answer may have are refused with the keys at fault', async () => {
    const query = await reader.query(['memory'])
    const queryRun = startQueryRun(query)
    const failure = await run(store(), queryRun, sql`select arrayJoin(range(100)) as number group by number`, {
      groupsMax: 10,
      groups: ['the key'],
    }).catch(({ status, errors }: Failure) => ({ status, errors }))
    expect(failure).toMatchObject({ status: 400, errors: [{ field: 'groups', code: 'TOO_MANY_GROUPS' }] })
  })

  test.each([{ rows: 1 }, { bytes: 10 }, { seconds: 0.000_001 }])('is refused with what to narrow: %o', async (budget) => {
    expect(await refused(budget)).toEqual({ status: 400, details: expect.stringContaining('narrow the time range') })
  })
})

test('a filter may have as many conditions as the language allows, each with its own text', async () => {
  await reader.send('many', [JSON.stringify({ k: 'v7', n: '7', text: "it's 7" }), '{"k":"other"}'])
  const query = await reader.query(['many'])
  const { fromMs, toMs } = { fromMs: Date.now() - 60_000, toMs: Date.now() + 60_000 }
  const kinds = [
    (n: number) => `k = 'v${n}'`,
    (n: number) => `n BETWEEN ${n} AND ${n}.5`,
    (n: number) => `text LIKE '%t''s ${n}'`,
    (n: number) => `"key ${n}" IN ('x', ${n})`,
    (n: number) => `@time = ${fromMs + n}`,
    (n: number) => `@sequence = ${n}`,
  ]
  for (const [wanted, from] of [
    [1, 0],
    [0, 10],
  ] as const) {
    const where = Array.from({ length: 498 }, (_, at) => kinds[at % kinds.length]?.(from + Math.floor(at / kinds.length))).join(' OR ')
    const { filter } = parseFilter(where)
    expect((await readEvents(store(), { ...query, filter, bounds: { fromMs, toMs } }, request)).events).toHaveLength(wanted)
  }
}, 300_000)

describe('a list is one step, however long it is', () => {
  const upTo = (count: number, write: (n: number) => string, by = ', ') => Array.from({ length: count }, (_, n) => write(n)).join(by)
  const lists: Record<string, (count: number) => string> = {
    numbers: (count) => `n IN (${upTo(count, String)})`,
    'numbers with texts': (count) => `n NOT IN (${upTo(count, (n) => `${n}.5, 't${n}'`)})`,
    'equal numbers': (count) => upTo(count, (n) => `n = ${n}`, ' OR '),
    'equal numbers in parentheses': (count) => `(${upTo(count, (n) => `n = ${n}`, ' OR ')}) OR k = 'x'`,
    'numbers left out': (count) => upTo(count, (n) => `n != ${n}`, ' AND '),
    times: (count) => `@time IN (${upTo(count, String)})`,
    'sequence numbers': (count) => upTo(count, (n) => `@sequence = ${n}`, ' OR '),
  }

  test.each(Object.entries(lists))('%s', async (_, list) => {
    const query = await reader.query(['plain'])
    const textOf = (where: string) => {
      const { filter } = parseFilter(where)
      const plan = eventsStatement(tableReadsFor(query.sources, keysIn(filter)), { filter }, request, { fromMs: 1_000, toMs: 2_000 })
      return plan && bindStatement(plan.whole).text
    }
    expect(textOf(list(400))).toBe(textOf(list(3)))
  })

  test('and finds what it says', async () => {
    await reader.send('lists', ['{"n":7}', '{"n":"7.0"}', '{"n":-0}', '{"n":"t7"}', '{"n":7e0}', '{"n":"0x7"}', '{"k":1}'])
    const many = upTo(1_000, (n) => String(n))
    expect((await reader.lines(['lists'], `n IN (${many})`)).sort()).toEqual(['{"n":"7.0"}', '{"n":-0}', '{"n":7e0}', '{"n":7}'])
    expect((await reader.lines(['lists'], `n NOT IN (${many})`)).sort()).toEqual(['{"n":"0x7"}', '{"n":"t7"}'])
    expect(
      (
        await reader.lines(
          ['lists'],
          upTo(300, (n) => `n != ${n}`, ' AND '),
        )
      ).sort(),
    ).toEqual(['{"n":"0x7"}', '{"n":"t7"}'])
  })

  test('what would still take the store long to prepare is refused by the rule', async () => {
    await reader.send('arrays', ['{"tags":["a","b"]}'])
    const where = upTo(500, (n) => `tags.0 > 'x${n}'`, ' OR ')
    const failure = await reader.lines(['arrays'], where).catch((thrown: Failure) => thrown)
    expect(failure).toMatchObject({ status: 400, message: expect.stringContaining('the conditions are') })
  })
})

describe('a disconnect ends the work in the store', () => {
  // Patterns without a text that the store could look for first: together they take many minutes.
  const where = Array.from({ length: 400 }, (_, n) => `text ~ '(a?b?c? ?){${11 + (n % 20)}}[0-9]{${1 + Math.floor(n / 20)}}[^ -~]'`).join(
    ' OR ',
  )
  beforeAll(async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `{"n":${n},"text":"${'abc '.repeat(300)}${n}"}`)
    for (let at = 0; at < lines.length; at += 5_000) await reader.send('long', lines.slice(at, at + 5_000))
  })

  async function running(): Promise<number> {
    const { orgNumber } = await reader.query(['long'])
    const answer = await store().writer.query({
      query: "select count() as n from system.processes where Settings['log_comment'] = {org:String}",
      query_params: { org: String(orgNumber) },
      format: 'JSONEachRow',
    })
    return Number((await answer.json<{ n: string }>())[0]?.n)
  }

  /** Waits until the work is running, disconnects its caller, and waits until none of the work is left. */
  async function ends(sent: Promise<unknown>, leave: () => unknown): Promise<void> {
    const reading = sent.then(
      () => 'answered',
      () => 'left',
    )
    while ((await running()) === 0) {
      expect(await Promise.race([reading, Promise.resolve('reading')])).toBe('reading')
      await new Promise((done) => setTimeout(done, 20))
    }
    await leave()
    expect(await reading).toBe('left')
    while ((await running()) > 0) await new Promise((done) => setTimeout(done, 20))
  }

  // None of these ever ends by itself.
  const ENDLESS = 'numbers(1000000000000000)'
  test.each([
    ['a regular expression', `select count() from ${ENDLESS} where match(repeat(toString(number), 50), '(1?2?3? ?){30}77x')`],
    ['many groups', `select count() from (select number % 1000000 as key, sum(number) from ${ENDLESS} group by key)`],
    ['a sort', `select max(key) from (select cityHash64(number) as key from ${ENDLESS} order by key limit 100000)`],
    ['unique values', `select uniqExact(number % 1000000) from ${ENDLESS}`],
    ['a list in every row', `select count() from (select arrayJoin(range(number % 100)) as one from ${ENDLESS}) where one = 101`],
  ])('while the store works on %s', async (_, text) => {
    const leaving = new AbortController()
    const query = await reader.query(['long'], '', { signal: leaving.signal })
    const queryRun = startQueryRun({ ...query, budget: { ...query.budget, rows: 1e18, bytes: 1e18, seconds: 600 } })
    await ends(run(store(), queryRun, constant(text)), () => leaving.abort())
  })

  test('from within', async () => {
    const leaving = new AbortController()
    const query = await reader.query(['long'], where, { signal: leaving.signal })
    await ends(readStats(store(), query, { calls: [], groups: [], slices: 1, limit: 1 }), () => leaving.abort())
  })

  const search = async (more: object, signal?: AbortSignal) => {
    const { app, org } = reader.senders
    const source = await reader.source('long')
    const body = { from: [source.logId], select: ['count(*)'], where, time_range: 'last 1 day', ...more }
    const headers = { 'x-service-api-key': org.key, 'content-type': 'application/json' }
    return fetch(`${app.url}/search`, { method: 'POST', headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) })
  }

  test('over HTTP, by closing the connection', async () => {
    const leaving = new AbortController()
    await ends(search({}, leaving.signal), () => leaving.abort())
  })

  /** Starts a slow asynchronous search and returns the path of its status. */
  async function begun(): Promise<string> {
    const { status, links } = (await (await search({ async_enabled: true })).json()) as { status: string; links: { href: string }[] }
    expect(status).toBe('IN_PROGRESS')
    return new URL(links[0]?.href ?? '').pathname
  }

  test('of an asynchronous search, by canceling it', async () => {
    const path = await begun()
    const cancelled = Promise.withResolvers<void>()
    await ends(cancelled.promise, async () => {
      expect((await reader.senders.org.ask('DELETE', path)).status).toBe(200)
      cancelled.reject(new Error('cancelled'))
    })
    expect((await reader.senders.org.ask<{ status: string }>('GET', path)).body.status).toBe('CANCELLED_BY_USER')
  })

  // This test moves the clock, so it must be the last one.
  test('of an asynchronous search, by not polling it for a minute', async () => {
    const path = await begun()
    const left = Promise.withResolvers<void>()
    await ends(left.promise, () => {
      reader.senders.app.clock.advance(61_000)
      left.reject(new Error('emptyStats asks'))
    })
    expect((await reader.senders.org.ask<{ status: string }>('GET', path)).body.status).toBe('TIMED_OUT')
  })
})
