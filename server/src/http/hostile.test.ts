import type { FailureBody } from '@dendro/api'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWire, repliesIn } from '../../../test/support/http-raw.ts'
import { openTestApp, type TestApp } from '../../../test/support/world.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app?.close())

test.each(['/dashboards', '/exports', '/encryption-keys'])('an id in %s of any form and length is 404', async (path) => {
  const { ask } = await app.newOrganization()
  for (const id of ['none', '%20', 'a%00b', '%F0%9F%8D%A3', 'a%2Fb', 'x'.repeat(256), 'x'.repeat(20_000)]) {
    const { status, body } = await ask<FailureBody>('GET', `${path}/${id}`)
    expect([status, body.code, body.details.length < 200]).toEqual([404, 404, true])
  }
})

test('no bytes break the service or cause a 500', async () => {
  const token = fc.constantFrom(
    'GET',
    'POST',
    ' ',
    '/',
    '/datasets',
    '/api-keys',
    '%',
    '?',
    '&',
    '\r\n',
    ' HTTP/1.1\r\n',
    'host: a\r\n',
    'content-length: 3\r\n',
    '\r\n\r\n',
    '{',
    '"',
    ':',
    'x-service-api-key: ',
    'transfer-encoding: chunked\r\n',
    '\u0000',
    '\u00ff',
  )
  const bytes = fc.array(fc.oneof(token, fc.string({ maxLength: 8 })), { maxLength: 20 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(bytes, async (text) => {
      const { socket, text: answer } = openWire(app.url)
      socket.end(`${text}\r\n\r\n`)
      for (const reply of repliesIn(await answer.catch(() => ''))) expect(reply.status).toBeLessThan(500)
    }),
    { numRuns: 150 },
  )
  await expect.poll(async () => (await app.ask('GET', '/health')).status).toBe(200)
})
