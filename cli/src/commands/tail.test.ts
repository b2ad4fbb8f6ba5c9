import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BadNetwork, startBadNetwork } from '../../../test/journeys/writer-bad-network.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

let app: TestApp
let org: TestOrganization
let network: BadNetwork
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  network = await startBadNetwork(Number(new URL(app.url).port))
})
afterAll(async () => {
  await network?.close()
  await app?.close()
})

async function send(...messages: string[]): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  const raw = messages.map((message) => JSON.stringify({ message, level: message.includes('bad') ? 'error' : 'info' })).join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
  app.clock.advance(600)
}

type Running = { shown(): string[]; stop(): Promise<Ran> }

/** Runs `dendro tail` until `stop`. */
function tail(words: string[], url = app.url): Running {
  const ending = new AbortController()
  let out = ''
  const ran = runCaptured(['tail', ...words], {
    env: { DENDRO_URL: url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: tmpdir() },
    signal: ending.signal,
    onOut: (text) => {
      out = text
    },
  })
  return {
    shown: () => out.split('\n').slice(0, -1),
    stop: () => {
      ending.abort()
      return ran
    },
  }
}

test('a tail begins with the latest events, follows new ones that match, and ends with Ctrl-C', async () => {
  await send('before bad', 'before', 'last bad')
  expect((await runCaptured(['tail', '-n', '1', '--raw'], { env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key } })).out).toBe(
    '{"message":"last bad","level":"error"}',
  )
  const { shown, stop } = tail(['-f', '-n', '1', "level = 'error'", '-d', 'shop.web', '--output', 'csv', '--fields', 'level,message'])
  await expect.poll(shown).toContain('ERROR,last bad\r')
  await send('good one', 'bad one')
  await expect.poll(shown).toEqual(['level,message\r', 'ERROR,last bad\r', 'ERROR,bad one\r'])
  expect(await stop()).toMatchObject({ status: 130, err: '' })
})

test('a tail continues after interruptions without loss and without repetition', async () => {
  const { shown, stop } = tail(['-f', '-n', '0', '--output', 'csv', '--fields', 'message'], network.url(app.url))
  await expect.poll(shown).toEqual(['message\r'])
  await send('one')
  await expect.poll(shown).toContain('one\r')
  network.mood = 'lose answers'
  await send('two', 'three')
  await expect.poll(() => network.struck).toBeGreaterThan(0)
  await send('four')
  network.mood = 'pass'
  await expect.poll(shown).toEqual(['message\r', 'one\r', 'two\r', 'three\r', 'four\r'])
  // After this long without a reader the service has forgotten the tail.
  network.mood = 'lose answers'
  const struck = network.struck
  await send('five')
  await expect.poll(() => network.struck).toBeGreaterThan(struck)
  app.clock.advance(120_000)
  await send('six')
  network.mood = 'pass'
  await expect.poll(shown).toContain('six\r')
  await send('seven')
  await expect.poll(shown).toEqual(['message\r', 'one\r', 'two\r', 'three\r', 'four\r', 'five\r', 'six\r', 'seven\r'])
  const { status, err } = await stop()
  expect(status).toBe(130)
  expect(err.match(/connection lost/g)).toHaveLength(2)
  expect(err.match(/connected again/g)).toHaveLength(2)
})
