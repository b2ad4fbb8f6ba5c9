import Fastify from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { endpoint } from '../../../api/src/endpoint.ts'
import { callerGone } from '../kernel/errors.ts'
import { type EndpointCall, mount, routes } from './mount.ts'

const slow = endpoint({ method: 'GET', path: '/slow', permission: 'public', tier: 'D', summary: 'Slow', reply: z.string() })

const app = Fastify()
afterEach(() => app.close())

test("a handler's signal aborts when the caller disconnects before the response, and not after it", async () => {
  const signals: AbortSignal[] = []
  const answers = [Promise.resolve('done'), new Promise<string>(() => undefined)]
  const run = async ({ signal }: EndpointCall<typeof slow>) => {
    signals.push(signal)
    const left = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return Promise.race([answers[signals.length - 1] ?? 'done', left])
  }
  mount(app, [routes('slow', { slow }, { slow: run })])
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  expect(await (await fetch(`${url}/slow`)).json()).toBe('done')
  const leaving = new AbortController()
  const gone = fetch(`${url}/slow`, { signal: leaving.signal })
  await expect.poll(() => signals.length).toBe(2)
  leaving.abort()
  await expect(gone).rejects.toThrow()
  await expect.poll(() => signals[1]?.reason).toBe(callerGone)
  expect(signals[0]?.aborted).toBe(false)
})
