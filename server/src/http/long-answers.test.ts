import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'

const EVENTS = 5_000
const UNREAD_MAX = 16

let app: TestApp
let org: TestOrganization
let path: string
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  const timestamp = app.clock.nowMs() - 60_000
  for (const half of [0, 1]) {
    const body = Array.from({ length: EVENTS / 2 }, (_, index) => ({
      timestamp,
      number: half * EVENTS + index,
      text: 'é long text '.repeat(160),
    }))
    expect((await org.ask('POST', '/ingest', { body })).status).toBe(200)
  }
  path = `/search?${new URLSearchParams({ from_expr: '*', from_ts: String(timestamp - 1), to_ts: String(timestamp + 1), limit: String(EVENTS) })}`
})
afterAll(() => app?.close())

/** Asks without reading the body. */
async function open(method: string, encoding = 'identity'): Promise<IncomingMessage> {
  const sent = request(`${app.url}${path}`, { method, headers: { 'x-service-api-key': org.key, 'accept-encoding': encoding } })
  sent.end()
  const [answer] = await once(sent, 'response')
  return answer
}

test('a long answer comes in chunks, compressed or not, and a HEAD has none of it', async () => {
  const [plain, packed, head] = [await open('GET'), await open('GET', 'br'), await open('HEAD')]
  for (const { statusCode, headers } of [plain, packed, head]) {
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(headers).not.toHaveProperty('content-length')
  }
  expect(packed.headers).toMatchObject({ 'content-encoding': 'br', vary: expect.stringContaining('accept-encoding') })
  const bodies = [await buffer(plain), brotliDecompressSync(await buffer(packed))].map((bytes) => JSON.parse(bytes.toString()))
  expect(bodies[0].events).toHaveLength(EVENTS)
  expect(bodies[1].events).toEqual(bodies[0].events)
  expect(await buffer(head)).toHaveLength(0)
})

test('a credential that does not read its long answers gets no more of them until it does', async () => {
  const unread: IncomingMessage[] = []
  while (unread.length < UNREAD_MAX) unread.push(await open('GET'))
  expect(unread.map(({ statusCode }) => statusCode)).toEqual(unread.map(() => 200))
  const refused = await open('GET')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5'])
  expect(JSON.parse((await buffer(refused)).toString())).toMatchObject({ code: 429, details: expect.stringContaining('not read yet') })
  for (const answer of unread.splice(0, 2)) answer.destroy()
  await buffer(unread[0] as IncomingMessage)
  await expect
    .poll(async () => {
      const answer = await open('GET')
      answer.destroy()
      return answer.statusCode
    })
    .toBe(200)
  for (const answer of unread) answer.destroy()
})
