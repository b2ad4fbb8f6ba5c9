import { expect, test } from 'vitest'
import { messagesOf } from '../../../../../test/support/stream-messages.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { decodeDelivered, encodeDelivered, readEventId, undelivered, withDelivery } from './delivered.ts'

const BREAKS = 7
const BATCH = 120

type Message = { id: string; text: string }

async function send(app: TestApp, org: TestOrganization, from: number): Promise<void> {
  const raw = Array.from({ length: BATCH }, (_, index) => JSON.stringify({ message: `event ${from + index}`, filler: 'x'.repeat(2_000) }))
  const headers = { 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  expect((await app.ask('POST', '/ingest', { raw: raw.join('\n'), headers, key: org.key })).status).toBe(200)
}

/** Reads a number of events of a stream, and breaks the connection there. */
async function read(app: TestApp, org: TestOrganization, job: string, last: string | undefined, count: number): Promise<Message[]> {
  const leaving = new AbortController()
  const response = await fetch(`${app.url}/live-tail/stream?job_id=${job}`, {
    headers: { 'x-service-api-key': org.key, ...(last === undefined ? {} : { 'last-event-id': last }) },
    signal: leaving.signal,
  })
  expect(response.status).toBe(200)
  const found: Message[] = []
  for await (const messages of messagesOf(response)) {
    found.push(...messages.map(({ id, data }) => ({ id, text: JSON.parse(data).message_kvs.message })))
    app.clock.advance(600)
    if (found.length >= count) break
  }
  leaving.abort()
  return found.slice(0, count)
}

test('a stream that breaks repeatedly goes on after the last event, at another process too', async () => {
  const apps = [await openTestApp({}, undefined, undefined, { ownsEvents: false }), await openTestApp()] as const
  const [app] = apps
  try {
    const org = await app.newOrganization()
    await org.ask('POST', '/datasets', { body: { collection: 'default', dataset: 'web' } })
    const { body } = await app.ask<{ job_id: string }>('POST', '/live-tail', { key: org.key, body: { from_expr: '*' } })
    const seen: Message[] = []
    let sent = 0
    for (let round = 0; round <= BREAKS; round += 1) {
      await send(app, org, sent)
      sent += BATCH
      for (const one of apps) one.clock.advance(600)
      // Each break but the last leaves events that were sent and never read.
      const wanted = round === BREAKS ? sent - seen.length : BATCH - 50
      seen.push(...(await read(apps[round % 2] as TestApp, org, body.job_id, seen.at(-1)?.id, wanted)))
    }
    expect(seen.map(({ text }) => text).toSorted()).toEqual(Array.from({ length: sent }, (_, n) => `event ${n}`).toSorted())
  } finally {
    for (const one of apps) await one.close()
  }
})

test('a stop ends streams with a last comment', async () => {
  const app = await openTestApp()
  const org = await app.newOrganization()
  await org.ask('POST', '/datasets', { body: { collection: 'default', dataset: 'web' } })
  const { body } = await app.ask<{ job_id: string }>('POST', '/live-tail', { key: org.key, body: { from_expr: '*' } })
  const response = await fetch(`${app.url}/live-tail/stream?job_id=${body.job_id}`, { headers: { 'x-service-api-key': org.key } })
  const text = response.text()
  await app.close()
  expect(await text).toContain(': over, since the service stops')
})

test('an id that is none is refused', () => {
  expect(readEventId('7.12')).toEqual({ turn: 7, seq: 12n })
  expect(readEventId('')).toBeUndefined()
  for (const id of ['7', 'x.1', '1.-2', '1.2.3']) expect(() => readEventId(id)).toThrow('Last-Event-ID')
})

test('the events that a client lacks follow from its last event, or from those that have left', () => {
  const deliveries = [
    { turn: 3, seqs: [10n, 20n], sent: 2 },
    { turn: 4, seqs: [15n, 30n, 40n], sent: 1 },
  ]
  expect(decodeDelivered(encodeDelivered(deliveries))).toEqual(deliveries)
  expect(undelivered(deliveries, undefined)).toEqual([30n, 40n])
  expect(undelivered(deliveries, { turn: 3, seq: 10n })).toEqual([20n, 15n, 30n, 40n])
  expect(undelivered(deliveries, { turn: 4, seq: 40n })).toEqual([])
  expect(decodeDelivered(null)).toEqual([])
  const many = withDelivery(deliveries, { turn: 5, seqs: Array.from({ length: 9_998 }, (_, n) => BigInt(n)), sent: 0 })
  expect(many.map(({ turn }) => turn)).toEqual([5])
})
