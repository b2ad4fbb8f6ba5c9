import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../kernel/log.ts'
import { readToEnd } from './linger.ts'

/** During the close, a connection ends at most this long after its last response. */
const CLOSE_IDLE_MS = 50

/** Ends each connection in order: after a refused upload, and within `busyMs` when the server closes. */
export function endConnections(app: FastifyInstance, { log, busyMs }: { log: Logger; busyMs: number }): void {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  let isClosing = false
  app.addHook('preClose', (done) => {
    isClosing = true
    // The server closes only connections that are idle at first. Later idle ones would keep it open for as long as clients like, and so would
    // those on which nothing was ever sent, which it does not count as idle.
    const closeUnused = (): void => {
      app.server.closeIdleConnections()
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }
    const sweep = setInterval(closeUnused, CLOSE_IDLE_MS).unref()
    const late = setTimeout(() => {
      log.info({ connections: sockets.size }, 'closing connections whose requests do not end')
      for (const socket of sockets) socket.destroy()
    }, busyMs)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(late)
    })
    done()
  })
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    if (!raw.complete) readToEnd(raw, reply.raw)
    done()
  })
}
