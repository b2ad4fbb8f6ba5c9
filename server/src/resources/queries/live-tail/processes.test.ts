import type { Event } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

/** A live tail whose polls reach one process after another, as behind a load balancer. */
let apps: TestApp[]
let org: TestOrganization
beforeAll(async () => {
  apps = [await openTestApp({}, undefined, undefined, { ownsEvents: false }), await openTestApp()]
  org = (await apps[0]?.newOrganization()) as TestOrganization
})
afterAll(async () => {
  for (const app of apps) await app.close()
})

const at = (index: number): TestApp => apps[index % apps.length] as TestApp
const later = (ms = 600): void => {
  for (const app of apps) app.clock.advance(ms)
}

async function send(app: TestApp, dataset: string, messages: readonly string[]): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  const raw = messages.map((message) => JSON.stringify({ message })).join('\n')
  expect((await app.ask('POST', '/ingest', { raw, headers, key: org.key })).status).toBe(200)
  later()
}

async function start(app: TestApp, dataset: string, more: object = {}): Promise<string> {
  await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset } })
  const body = { from_expr: `dataset = '${dataset}'`, ...more }
  const { body: started } = await app.ask<{ job_id: string }>('POST', '/live-tail', { key: org.key, body })
  later()
  return started.job_id
}

async function poll(app: TestApp, id: string, limit = 100): Promise<string[]> {
  const path = `/live-tail?job_id=${id}&most_recent_first=false&limit=${limit}`
  const { status, body } = await app.ask<{ logs: { events: Event[] }[] }>('GET', path, { key: org.key })
  expect(status).toBe(200)
  return body.logs.flatMap(({ events }) => events.map((event) => event.message_kvs.message ?? ''))
}

const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `number ${from + index}`)

test('polls that alternate between processes return each event once, whichever process ingested it', async () => {
  const id = await start(at(0), 'alternating')
  const seen: string[] = []
  for (let round = 0; round < 12; round += 1) {
    await send(at(round % 3), 'alternating', numbered(5, round * 5))
    seen.push(...(await poll(at(round), id, 3)))
  }
  for (let round = 0; round < 14; round += 1) {
    later()
    seen.push(...(await poll(at(round), id, 5)))
  }
  expect(seen.toSorted()).toEqual(numbered(60).toSorted())
})

test('concurrent polls of both processes share the events', async () => {
  const id = await start(at(0), 'shared')
  await send(at(1), 'shared', numbered(40))
  const seen = (await Promise.all(Array.from({ length: 6 }, (_, index) => poll(at(index), id, 10)))).flat()
  expect(seen.toSorted()).toEqual(numbered(40).toSorted())
})

test('a tail continues in another process after its first process stopped, and does not show earlier events', async () => {
  const gone = await openTestApp({}, undefined, undefined, { ownsEvents: false })
  try {
    gone.clock.advance(at(0).clock.nowMs() - gone.clock.nowMs())
    await send(at(0), 'orphaned', ['before'])
    const id = await start(gone, 'orphaned', { where: "NOT message = 'unwanted'" })
    await send(at(0), 'orphaned', ['one', 'unwanted', 'two', 'three'])
    gone.clock.advance(1_200)
    expect(await poll(gone, id, 1)).toEqual(['one'])
    await gone.close()
    expect(await poll(at(1), id, 1)).toEqual(['two'])
    await send(at(1), 'orphaned', ['four'])
    // The sequence numbers of two processes may be out of order.
    expect((await poll(at(0), id)).toSorted()).toEqual(['four', 'three'])
    expect(await poll(at(1), id)).toEqual([])
  } finally {
    await gone.close()
  }
})

test('events that wait for a slow caller are returned by another process, even if they are older than its usual reads', async () => {
  const id = await start(at(0), 'slow')
  await send(at(0), 'slow', numbered(6))
  const seen: string[] = []
  // Only the first process is polled, for longer than another one reads back by default.
  for (let round = 0; round < 3; round += 1) {
    seen.push(...(await poll(at(0), id, 1)))
    later(45_000)
  }
  seen.push(...(await poll(at(1), id, 2)))
  later()
  seen.push(...(await poll(at(0), id)))
  expect(seen).toEqual(numbered(6))
})

test('a dataset that starts to match the selector shows later events, in every process', async () => {
  const made = async (dataset: string, tags: object) =>
    (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset, tags } })).body.id
  await made('blue', { team: 'blue' })
  const joining = await made('joining', {})
  const id = await start(at(0), 'unused', { from_expr: "tag.team = 'blue'" })
  expect(await poll(at(1), id)).toEqual([])
  await send(at(0), 'joining', ['before'])
  const tag = { name: 'team', value: 'blue', entity: { id: joining, type: 'log' } }
  expect((await org.ask('POST', '/tags', { body: tag })).status).toBe(201)
  later()
  expect(await poll(at(0), id)).toEqual([])
  await send(at(0), 'joining', ['after'])
  expect(await poll(at(1), id)).toEqual(['after'])
  expect(await poll(at(0), id)).toEqual([])
})

test('a job that another process served for more than a minute misses no events here, though all jobs of this process have taken them', async () => {
  const [id, here] = [await start(at(0), 'wandering'), await start(at(0), 'wandering')]
  expect([await poll(at(0), id), await poll(at(0), here)]).toEqual([[], []])
  for (let round = 0; round < 3; round += 1) {
    later(30_000)
    expect([await poll(at(1), id), await poll(at(0), here)]).toEqual([[], []])
  }
  await send(at(1), 'wandering', ['one', 'two'])
  expect(await poll(at(0), here)).toEqual(['one', 'two'])
  later()
  expect(await poll(at(0), here)).toEqual([])
  expect(await poll(at(0), id)).toEqual(['one', 'two'])
})
