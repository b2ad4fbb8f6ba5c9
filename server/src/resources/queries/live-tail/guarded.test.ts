import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import type { Actor } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { activeCallerOf } from '../../access/auth/auth.ts'
import { LiveTails } from './live-tail.ts'

/** Streams of live tails whose callers lose access while the stream waits for its client or for the store. */
const WAIT_MS = 240_000
let app: TestApp
let org: TestOrganization
let actor: Actor
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  await org.ask('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })
  const { body } = await org.ask<{ api_keys: { id: string }[] }>('GET', '/api-keys')
  const caller = await activeCallerOf(app.app.world, org.orgId, { type: 'API_KEY_ID', id: body.api_keys[0]?.id ?? '' })
  if (!caller) throw new Error('the API key of the test is missing')
  actor = {
    ...caller,
    facts: { correlationId: 'c', action: 'liveTail.stream', address: '', userAgent: '', accept: '', baseUrl: 'http://here' },
  }
})
afterAll(() => app?.close())

/** Opens a stream. `revoke` takes the access from its caller. */
async function streamOf(world: World): Promise<{ stream: Readable; revoke: () => void }> {
  const tails = new LiveTails(world)
  let isAllowed = true
  const currentActor = async (): Promise<Actor> => {
    if (!isAllowed) throw forbidden('this needs the permission search_read')
    return actor
  }
  const { job_id } = await tails.start(actor, { from_expr: "dataset = 'web'" })
  const stream = await tails.stream(actor, job_id, { signal: new AbortController().signal, currentActor })
  return {
    stream,
    revoke: () => {
      isAllowed = false
    },
  }
}

test('the stream of a caller who lost access is destroyed when its client does not read it', async () => {
  const { stream, revoke } = await streamOf(app.app.world)
  const failed = once(stream, 'error')
  await once(stream, 'readable')
  expect(String(stream.read())).toBe(': watching\n\n')
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  const lines = Array.from({ length: 20 }, (_, n) => JSON.stringify({ message: `${n} ${'long '.repeat(5_000)}` }))
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  // From now on the buffer of the stream is full.
  await expect.poll(() => stream.readableLength >= stream.readableHighWaterMark, { timeout: WAIT_MS }).toBe(true)
  revoke()
  expect(await failed).toEqual([expect.objectContaining({ message: expect.stringContaining('does not read') })])
  expect(stream.destroyed).toBe(true)
})

test('the stream of a caller who lost access sends a comment and ends while the store does not respond', async () => {
  const { world } = app.app
  const readStarted = Promise.withResolvers<void>()
  let isHung = false
  // A store that accepts a read and never responds.
  const read = (...args: Parameters<typeof world.events.read>): ReturnType<typeof world.events.read> => {
    if (!isHung) return world.events.read(...args)
    readStarted.resolve()
    return new Promise(() => undefined)
  }
  const events = Object.create(world.events, { read: { value: read } })
  const { stream, revoke } = await streamOf({ ...world, events })
  isHung = true
  app.clock.advance(600)
  const text = stream.setEncoding('utf8').toArray()
  await readStarted.promise
  revoke()
  expect((await text).join('')).toBe(': watching\n\n: over, since the caller may not watch any more\n\n')
})
