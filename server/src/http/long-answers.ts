import type { onSendHookHandler } from 'fastify'
import { Failure } from '../kernel/errors.ts'
import { JsonStream } from './json-stream.ts'

/** A long answer is in memory until its client has read it, so the number for each credential is limited. */
const AT_ONCE_MAX = 16
const RETRY_AFTER_S = 5

const tooManyUnread = (): Failure =>
  new Failure(429, `more than ${AT_ONCE_MAX} long answers are not read yet; read them, or ask for less`, {
    headers: { 'retry-after': String(RETRY_AFTER_S) },
  })

/** Returns a hook for replies that counts the long ones that are being sent, and refuses one too many of a credential. */
export function boundLongAnswers(): onSendHookHandler {
  const sending = new Map<string, number>()
  return ({ actor }, reply, payload, done) => {
    if (!(payload instanceof JsonStream)) return done()
    const credential = actor ? `${actor.orgId}/${actor.identity.id}` : ''
    const count = sending.get(credential) ?? 0
    if (count >= AT_ONCE_MAX) {
      payload.destroy()
      return done(tooManyUnread())
    }
    sending.set(credential, count + 1)
    reply.raw.once('close', () => {
      const left = (sending.get(credential) ?? 1) - 1
      if (left > 0) sending.set(credential, left)
      else sending.delete(credential)
    })
    return done()
  }
}
