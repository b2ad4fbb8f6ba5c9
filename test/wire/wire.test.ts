import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseTime, toNs } from '../../server/src/lines/values/time-text.ts'
import { openSenders, type Senders } from '../support/senders.ts'
import type { StoredEvent } from '../support/stored-events.ts'
import { compareLines, headersWithKey, objectIn, type RecordedRequest, readRecording, wireLines } from './wire.ts'
import { type LineMeaning, lineMeanings, otherMeanings } from './wire-meaning.ts'
import { httpSenders, type SenderCase } from './wire-senders.ts'

let senders: Senders
let meanings: ReadonlyMap<string, LineMeaning>
beforeAll(async () => {
  senders = await openSenders()
  meanings = await lineMeanings(senders)
})
afterAll(() => senders?.close())

/** Sends a request as recorded, with a key of ours, to a collection of its own. */
async function replay(request: RecordedRequest, collection: string): Promise<{ status: number; body: string }> {
  const response = await fetch(senders.app.url + request.path, {
    method: request.method,
    headers: { ...headersWithKey(request, senders.org.key), 'x-service-collection': collection },
    body: Buffer.from(request.body_b64, 'base64'),
  })
  return { status: response.status, body: await response.text() }
}

describe('recorded requests of real senders give their 120 lines', () => {
  test.each(httpSenders.map((sender) => [sender.recording, sender] as const))('%s', async (collection, sender) => {
    const requests = readRecording<RecordedRequest>(sender.recording)
    for (const { status, body } of await Promise.all(requests.map((request) => replay(request, collection)))) {
      expect(status).toBe(sender.reply.status)
      if (typeof sender.reply.body === 'string') expect(body).toBe(sender.reply.body)
      else expect(body).toMatch(sender.reply.body)
    }
    const events = await senders.eventsIn(sender.dataset, collection)
    expect(compareLines(events, sender)).toEqual({ missing: [], strange: [] })
    checkSource(events, sender)
    checkFields(events, sender)
    expect(otherMeanings(events, sender, meanings)).toEqual([])
  })
})

/** All recordings were made within this time. */
const RECORDED = [Date.UTC(2026, 10, 22, 12), Date.UTC(2026, 10, 23)].map((ms) => BigInt(ms) * 1_000_000n) as [bigint, bigint]

/** Every event has the time of its sender and the name of its host. */
function checkSource(events: readonly StoredEvent[], { host, time }: SenderCase): void {
  const [from, to] = RECORDED
  if (host !== undefined) expect(new Set(events.map(({ keys }) => keys[host]))).toEqual(new Set(['host-a']))
  if (time === 'recording') expect(events.filter(({ timeNs }) => timeNs < from || timeNs >= to)).toEqual([])
  if (time !== 'line') return
  const stamps = wireLines.flatMap((line) => objectIn(line)?.timestamp ?? []).filter((stamp) => typeof stamp === 'string')
  const times = new Set(events.map(({ timeNs }) => timeNs))
  expect(stamps.filter((stamp) => !times.has(toNs(parseTime(stamp) ?? { ms: 0, ns: 0 })))).toEqual([])
}

/** The levels of the JSON lines decide the severities, and their fields are keys. */
function checkFields(events: readonly StoredEvent[], { field, hasLevel }: SenderCase): void {
  const objects = wireLines.map(objectIn).filter((object) => object !== undefined)
  if (hasLevel !== false) {
    for (const level of ['debug', 'warn', 'error']) {
      const wanted = objects.filter((object) => object.level === level).length
      expect(events.filter(({ severity }) => severity === level).length, level).toBeGreaterThanOrEqual(wanted)
    }
  }
  if (field === undefined) return
  const values = (name: string) => new Set(events.flatMap(({ keys }) => keys[field(name)] ?? []))
  expect([...values('order.id')].sort()).toEqual(['7000', '7010', '7020', '7030'])
  expect([...values('http.path')].sort()).toEqual(['/p/16', '/p/26', '/p/36', '/p/6'])
  expect([...values('user.geo.lat')]).toEqual(['47.37'])
  expect([...values('severity_number')]).toEqual(['9'])
}
