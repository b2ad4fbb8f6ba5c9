import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openTestApp } from '../../../test/support/world.ts'

test('a stop does not wait for a connection on which nothing was ever sent', async () => {
  const app = await openTestApp()
  const { server } = app.app.http
  // Without the stop the connection would stay for ever.
  server.keepAliveTimeout = 0
  server.headersTimeout = 0
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  socket.on('error', () => undefined).resume()
  const ended = once(socket, 'close')
  await expect.poll(() => promisify(server.getConnections.bind(server))()).toBe(1)
  await app.close()
  await ended
})
