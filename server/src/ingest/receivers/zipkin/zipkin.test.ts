import type { Trace } from '@dendro/api'
import { expect, test } from 'vitest'
import { openTestApp } from '../../../../../test/support/world.ts'

test('spans of a reporter are a trace, in which a server that shares an id lies below its client', async () => {
  const app = await openTestApp()
  try {
    const org = await app.newOrganization()
    const micros = (app.clock.nowMs() - 60_000) * 1_000
    const span = (own: object) => ({ traceId: '5982fe77008310cc', localEndpoint: { serviceName: 'shop' }, ...own })
    const reply = await org.ask('POST', '/api/v2/spans', {
      body: [
        span({ id: 'a', name: 'get /cart', kind: 'SERVER', timestamp: micros, duration: 9_000 }),
        span({ id: 'b', parentId: 'a', name: 'charge', kind: 'CLIENT', timestamp: micros + 1_000, duration: 5_000 }),
        span({
          id: 'b',
          parentId: 'a',
          name: 'charge',
          kind: 'SERVER',
          shared: true,
          timestamp: micros + 2_000,
          duration: 3_000,
          localEndpoint: { serviceName: 'pay' },
          tags: { error: 'refused' },
        }),
      ],
    })
    expect([reply.status, reply.body]).toEqual([202, ''])
    const { status, body } = await org.ask<Trace>('GET', '/traces/5982fe77008310cc')
    expect(status).toBe(200)
    expect(
      body.spans.map(({ depth, service, name, duration_nano, status: state }) => [depth, service, name, duration_nano, state]),
    ).toEqual([
      [0, 'shop', 'get /cart', 9_000_000, 'unset'],
      [1, 'shop', 'charge', 5_000_000, 'unset'],
      [2, 'pay', 'charge', 3_000_000, 'error'],
    ])
    expect(body.errors).toEqual([{ span: 2, message: 'refused', is_origin: true }])
  } finally {
    await app.close()
  }
})
