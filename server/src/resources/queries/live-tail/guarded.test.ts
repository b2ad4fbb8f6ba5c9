import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/world.ts'
import type { Actor } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { activeCallerOf } from '../../access/auth/auth.ts'
import { LiveTails } from './live-tail.ts'

/** Streams of live tails whose callers lose access while the stream waits for its reader or for the store. */
const WAIT_MS = 120_000
let app: TestApp
let org: TestOrganization
let actor: Actor
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })
  const { body } = await org.ask<{ api_keys: { id: string }[] }>('GET', '/api-keys')
  const caller = await activeCallerOf(app.app.world, org.orgId, { type: 'API_KEY_ID', id: body.api_keys[0]?.id ?? '' })
  if (!caller) throw new Error('the key of a test is not there')
  actor = {
    ...caller,
    facts: { correlationId: 'c', action: 'liveTail.stream', address: '', userAgent: '', accept: '', baseUrl: 'http://here' },
  }
})
afterAll(() => app?.close())

/** streamOf opens a stream whose caller loses access by `revoke`. */
async function streamOf(world: World): Promise<{ stream: Readable; revoke: () => void }> {
  const tails = new LiveTails(world)
  let isAllowed = true
  const standing = async (): Promise<Actor> => {
    if (!isAllowed) throw forbidden('this needs the permission search_read')
    return actor
  }
  const { job_id } = await tails.start(actor, { from_expr: "dataset = 'web'" })
  const stream = await tails.stream(actor, job_id, { signal: new AbortController().signal, standing })
  return {
    stream,
    revoke: () => {
      isAllowed = false
    },
  }
}

test('the stream of a caller who lost access is cut off when nobody reads it', async () => {
  const { stream, revoke } = await streamOf(app.app.world)
  const failed = once(stream, 'error')
  await once(stream, 'readable')
  expect(String(stream.read())).toBe(': watching\n\n')
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  const lines = Array.from({ length: 20 }, (_, n) => JSON.stringify({ message: `${n} ${'long '.repeat(5_000)}` }))
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  // From here on it has more to say than it may keep for a reader.
  await expect.poll(() => stream.readableLength >= stream.readableHighWaterMark, { timeout: WAIT_MS }).toBe(true)
  revoke()
  expect(await failed).toEqual([expect.objectContaining({ message: expect.stringContaining('does not read') })])
  expect(stream.destroyed).toBe(true)
})

test('the stream of a caller who lost access says so and ends while the store does not answer', async () => {
  const { world } = app.app
  const reading = Promise.withResolvers<void>()
  let isHung = false
  // A store that takes a read and never answers it.
  const exec = (...given: Parameters<typeof world.events.reader.exec>): ReturnType<typeof world.events.reader.exec> => {
    if (!isHung) return world.events.reader.exec(...given)
    reading.resolve()
    return new Promise(() => undefined)
  }
  const reader = Object.create(world.events.reader, { exec: { value: exec } })
  const events = Object.create(world.events, { reader: { value: reader } })
  const { stream, revoke } = await streamOf({ ...world, events })
  isHung = true
  app.clock.advance(600)
  const said = stream.setEncoding('utf8').toArray()
  await reading.promise
  revoke()
  expect((await said).join('')).toBe(': watching\n\n: over, since the caller may not watch any more\n\n')
})
