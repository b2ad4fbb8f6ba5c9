import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../test/support/senders.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

const send = (dataset: string, body: string) => senders.post(body, { headers: { 'x-service-dataset': dataset } })
const idOf = async (dataset: string): Promise<string> => (await senders.found('default', dataset))?.id ?? ''

/** Creates a dataset with a parser. */
async function withParser(dataset: string, pattern: string, enabled = true): Promise<string> {
  await senders.org.ask('POST', '/datasets', { body: { collection: 'default', dataset } })
  const log_id = await idOf(dataset)
  const { id } = (await senders.org.ask<{ id: string }>('POST', '/parsers', { body: { log_id, pattern } })).body
  await senders.org.ask('PATCH', `/parsers/${id}`, { body: { enabled } })
  expect((await senders.org.ask('PUT', `/datasets/${log_id}/parser`, { body: { parser_id: id } })).status).toBe(204)
  return id
}

describe('the parser of a dataset', () => {
  test('extracts the keys of matching lines; other lines are detected as without a parser', async () => {
    await withParser('fits', '%{IP:client} paid %{NUMBER:amount} for %{GREEDYDATA:what}')
    await send('fits', '10.0.0.1 paid 12.50 for a=1 b=2\nnothing but x=1 y=2\n')
    const events = await senders.eventsIn('fits')
    expect(events.map(({ line, keys }) => [line, keys])).toEqual([
      ['10.0.0.1 paid 12.50 for a=1 b=2', { client: '10.0.0.1', amount: '12.50', what: 'a=1 b=2' }],
      ['nothing but x=1 y=2', { x: '1', y: '2' }],
    ])
  })

  test('tells time and severity', async () => {
    await withParser('timed', '\\[%{HTTPDATE:timestamp}\\] (?<level>\\w+): %{GREEDYDATA:message}')
    await withParser('older', '%{SYSLOGTIMESTAMP:timestamp} %{WORD:program} %{GREEDYDATA:message}')
    await send('timed', '[20/Nov/2026:10:00:00 +0200] ERROR: broken')
    const [event] = await senders.eventsIn('timed')
    expect(event).toMatchObject({ timeNs: BigInt(Date.UTC(2026, 10, 20, 8)) * 1_000_000n, severity: 'error' })
    await send('older', 'Nov 20 10:00:00 cron done')
    const year = new Date(senders.app.clock.nowMs()).getUTCFullYear()
    const times = [year, year - 1].map((one) => BigInt(Date.UTC(one, 10, 20, 10)) * 1_000_000n)
    expect(times).toContain((await senders.eventsIn('older'))[0]?.timeNs)
  })

  test('reads the message of a JSON line, whose own keys take precedence', async () => {
    await withParser('inner', 'user=%{WORD:user} level=%{WORD:level} %{GREEDYDATA:rest}')
    const line = '{"message":"user=ada level=warn and more","level":"error","n":1}'
    await send('inner', line)
    const [event] = await senders.eventsIn('inner')
    expect(event).toMatchObject({ line, severity: 'error', keys: { user: 'ada', rest: 'and more', level: 'error', n: '1' } })
  })

  test('reads the lines of bulk posts too', async () => {
    await withParser('bulked', '%{WORD:verb} %{INT:n}')
    const raw = '{"index":{"_index":"bulked"}}\n{"message":"sold 7","host":{"name":"h"}}\n'
    await senders.post(raw, { path: '/_bulk' })
    expect((await senders.eventsIn('bulked'))[0]?.keys).toMatchObject({ verb: 'sold', n: '7', '$host.name': 'h' })
  })

  test('is not applied while disabled, after it was unassigned, or to earlier events', async () => {
    const id = await withParser('switched', '%{WORD:a}-%{WORD:b}', false)
    await send('switched', 'one-two')
    await senders.org.ask('PATCH', `/parsers/${id}`, { body: { enabled: true } })
    await send('switched', 'three-four')
    await senders.org.ask('PATCH', `/parsers/${id}`, { body: { enabled: true, pattern: '(?<whole>.*)' } })
    await send('switched', 'five-six')
    await senders.org.ask('DELETE', `/datasets/${await idOf('switched')}/parser`)
    await send('switched', 'seven-eight')
    expect((await senders.eventsIn('switched')).map(({ keys }) => keys)).toEqual([{}, { a: 'three', b: 'four' }, { whole: 'five-six' }, {}])
  })

  test('may be a built-in format, which then precedes all others', async () => {
    await senders.org.ask('POST', '/datasets', { body: { collection: 'default', dataset: 'formed' } })
    const { parsers } = (await senders.org.ask<{ parsers: { id: string; name: string }[] }>('GET', '/parsers')).body
    const parser_id = parsers.find(({ name }) => name === 'CEF')?.id
    await senders.org.ask('PUT', `/datasets/${await idOf('formed')}/parser`, { body: { parser_id } })
    await send('formed', 'Nov 20 10:00:00 host CEF:0|V|P|1|7|Worm|9|src=10.0.0.1')
    expect((await senders.eventsIn('formed'))[0]?.keys).toMatchObject({ device_vendor: 'V', src: '10.0.0.1' })
  })

  test('keeps the line byte for byte, whatever stands in it', async () => {
    await withParser('bytes', '(?<a>\\S+) (?<b>.*)')
    const body = Buffer.concat([Buffer.from('é\u0000x 🌳 \ttail '), Buffer.from([0xff, 0xfe]), Buffer.from('\n')])
    await senders.post(body, { headers: { 'x-service-dataset': 'bytes', 'content-type': 'text/plain' } })
    expect((await senders.eventsIn('bytes'))[0]?.raw).toEqual(body.subarray(0, -1))
  })

  test('delays a post only briefly, however slow the pattern', async () => {
    await withParser('slow', '(?<x>(.*)(.*)(.*)(.*)(.*)[^a])')
    const line = `${'a'.repeat(8_000)}\n`
    expect((await send('slow', line.repeat(200))).body).toMatchObject({ accepted: 200 })
  })
})

describe('the time of the lines of a dataset', () => {
  type Candidate = { format: string; word: number; matched: number; unchanged: number; is_ambiguous: boolean; samples: { time: number }[] }
  const ns = (time: string): bigint => BigInt(Date.parse(time)) * 1_000_000n
  const times = async (dataset: string): Promise<bigint[]> => (await senders.eventsIn(dataset)).map(({ timeNs }) => timeNs)
  const preview = async (dataset: string, timezone = 'UTC') =>
    (
      await senders.org.ask<{ lines: number; candidates: Candidate[] }>(
        'GET',
        `/datasets/${await idOf(dataset)}/line-time/preview?timezone=${timezone}`,
      )
    ).body
  const set = async (dataset: string, body: Record<string, unknown>) =>
    senders.org.ask<{ errors?: { field: string }[] }>('PUT', `/datasets/${await idOf(dataset)}/line-time`, { body })

  test('is the arrival until the setting is on, which the preview of recent lines proposes', async () => {
    const lines = '081109 203615 148 INFO dfs.DataNode: a\n081109 203807 222 INFO dfs.DataNode: b\n'
    await send('hdfs', lines)
    const now = senders.app.clock.nowMs()
    expect((await times('hdfs')).map((one) => Math.abs(Number(one / 1_000_000n) - now) < 60_000)).toEqual([true, true])
    const { candidates, lines: read } = await preview('hdfs')
    expect([read, candidates.length]).toEqual([2, 1])
    expect(candidates[0]).toMatchObject({ format: 'YYMMDD hh:mm:ss', word: 0, matched: 2, unchanged: 0, is_ambiguous: false })
    expect(candidates[0]?.samples.map(({ time }) => time).sort()).toEqual([
      Date.parse('2008-11-09T20:36:15Z'),
      Date.parse('2008-11-09T20:38:07Z'),
    ])
    expect((await set('hdfs', { format: 'YYMMDD hh:mm:ss', timezone: 'Europe/Berlin' })).status).toBe(204)
    await send('hdfs', lines)
    expect((await times('hdfs')).slice(2)).toEqual([ns('2008-11-09T19:36:15Z'), ns('2008-11-09T19:38:07Z')])
    expect((await senders.eventsIn('hdfs')).map(({ line }) => line)).toEqual([...lines.trim().split('\n'), ...lines.trim().split('\n')])
    const path = `/datasets/${await idOf('hdfs')}/line-time`
    expect((await senders.org.ask('GET', path)).body).toEqual({
      line_time: { format: 'YYMMDD hh:mm:ss', word: 0, timezone: 'Europe/Berlin' },
    })
    expect((await senders.org.ask('DELETE', path)).status).toBe(204)
    expect((await senders.org.ask('GET', path)).body).toEqual({ line_time: null })
    await send('hdfs', lines)
    expect((await times('hdfs')).slice(4).every((one) => one > ns('2025-01-01T00:00:00Z'))).toBe(true)
  })

  test('beats the time of the protocol and of keys, also in the message of a JSON line', async () => {
    const own = new Date(senders.app.clock.nowMs() - 3_600_000).toISOString()
    await send('wrapped', `{"message":"17/06/09 20:10:40 INFO run","timestamp":"${own}"}`)
    expect((await preview('wrapped')).candidates.map(({ is_ambiguous }) => is_ambiguous)).toEqual([true, true])
    await set('wrapped', { format: 'YY/MM/DD hh:mm:ss' })
    await send('wrapped', `{"message":"17/06/09 20:10:40 INFO run","timestamp":"${own}"}\n{"message":"no time","timestamp":"${own}"}`)
    expect((await times('wrapped')).slice(1)).toEqual([ns('2017-06-09T20:10:40Z'), ns(own)])
  })

  test('is kept as text when it is not acceptable, and lines without one arrive as before', async () => {
    await senders.org.ask('POST', '/datasets', { body: { collection: 'default', dataset: 'odd' } })
    await set('odd', { format: 'Www Mon DD hh:mm:ss YYYY', timezone: 'Europe/Berlin' })
    await send('odd', '[Sun Dec 04 04:47:44 2005] a\n[Fri Dec 04 04:47:44 1998] b\n\tat com.example.Main(Main.java:3)\n')
    const events = await senders.eventsIn('odd')
    expect(events[0]?.timeNs).toBe(ns('2005-12-04T03:47:44Z'))
    expect(events[1]?.keys['$ingest.original_time']).toBe('Fri Dec 04 04:47:44 1998')
    expect(events[2]?.keys['$ingest.original_time']).toBeUndefined()
    expect(events.slice(1).every(({ timeNs }) => timeNs > ns('2025-01-01T00:00:00Z'))).toBe(true)
    expect(events.map(({ line }) => line)).toEqual([
      '[Sun Dec 04 04:47:44 2005] a',
      '[Fri Dec 04 04:47:44 1998] b',
      '\tat com.example.Main(Main.java:3)',
    ])
  })

  test.each([
    ['format', { format: 'hh:mm' }],
    ['word', { format: 'epoch', word: 16 }],
    ['timezone', { format: 'epoch', timezone: '+01:00' }],
  ])('is refused with a wrong %s', async (field, body) => {
    await senders.org.ask('POST', '/datasets', { body: { collection: 'default', dataset: 'refusals' } })
    const reply = await set('refusals', body)
    expect([reply.status, reply.body.errors?.[0]?.field]).toEqual([400, field])
  })
})
