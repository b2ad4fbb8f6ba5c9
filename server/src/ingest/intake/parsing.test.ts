import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../test/senders.ts'

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
