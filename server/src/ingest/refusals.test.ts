import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Actor } from '../http/actor.ts'
import { Failure, unavailable } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { Refusals } from './intake/refusals.ts'

type Said = { level: string; fields: object; message: string }

/** A log that records its messages. */
function recording(): { log: Logger; said: Said[]; warned: () => Said[] } {
  const said: Said[] = []
  const at = (level: string) => (fields: object, message: string) => void said.push({ level, fields, message })
  const log = {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  } as unknown as Logger
  return { log, said, warned: () => said.filter(({ level }) => level === 'warn') }
}

const actorOf = (id: string) =>
  ({ orgId: 'org', identity: { type: 'API_KEY_ID', id }, facts: { correlationId: 'c', address: '::1' } }) as unknown as Actor
const malformed = new Failure(400, 'the body is not gzip', { cause: new Error('incorrect header check') })

test('a repeatedly refused sender is logged once per reason, then counted', () => {
  const { log, warned } = recording()
  const refusals = new Refusals(log)
  const [one, other] = [actorOf(randomUUID()), actorOf(randomUUID())]
  for (let times = 0; times < 1_000; times += 1) refusals.note(one, 'native', 'malformed', malformed)
  refusals.note(one, 'native', 'too_large', new Failure(413, 'the body is larger than 1 bytes'))
  refusals.note(other, 'native', 'malformed', malformed)
  expect(warned().map(({ message }) => message)).toEqual(['posts are refused', 'posts are refused', 'posts are refused'])
  refusals.close()
  expect(warned().slice(3)).toEqual([
    {
      level: 'warn',
      fields: { org_id: 'org', identity_id: one.identity.id, protocol: 'native', reason: 'malformed', status: 400, posts: 999 },
      message: 'more posts were refused',
    },
  ])
})

test('after a minute the count is logged, and the next refusal is logged in full', async () => {
  const { log, warned } = recording()
  const refusals = new Refusals(log, 20)
  for (let times = 0; times < 3; times += 1) refusals.note(actorOf('a'), 'native', 'malformed', malformed)
  await expect.poll(() => warned().map(({ message }) => message)).toEqual(['posts are refused', 'more posts were refused'])
  refusals.note(actorOf('a'), 'native', 'malformed', malformed)
  expect(warned().at(-1)?.message).toBe('posts are refused')
  refusals.close()
})

test('client errors are logged without a cause, internal errors with it', () => {
  const { log, said, warned } = recording()
  const refusals = new Refusals(log)
  refusals.note(actorOf('a'), 'native', 'malformed', malformed)
  refusals.note(actorOf('a'), 'native', 'unavailable', unavailable('come again', { cause: new Error('no space left') }))
  expect(warned().map(({ fields }) => 'cause' in fields && fields.cause)).toEqual([false, 'no space left'])
  expect(JSON.stringify(said)).not.toContain('incorrect header check')
  expect(said.filter(({ level }) => level === 'debug')).toHaveLength(2)
  refusals.close()
})
