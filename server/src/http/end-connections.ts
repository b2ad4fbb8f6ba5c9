import type { Server, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../kernel/log.ts'
import { readToEnd } from './linger.ts'

/** During the close, a connection ends at most this long after its last response. */
const CLOSE_IDLE_MS = 50

/** A connection on which nothing was sent for this long is unused; the request on a newer one may be on its way. */
const UNUSED_MS = 1_000

/** So long after streams were ended, their clients have connected again. */
const ACCEPT_MS_MIN = 100
/** Within this time there is an iteration of the event loop without other work, even under load. */
const ACCEPT_MS_MAX = 1_000
const ITERATION_MS_MAX = 0.05

/** Ends each connection in order: after a refused upload, and within `busyMs` when the server closes. */
export function endConnections(app: FastifyInstance, { log, busyMs }: { log: Logger; busyMs: number }): void {
  const sockets = new Map<Socket, number>()
  app.server.on('connection', (socket) => {
    sockets.set(socket, performance.now())
    socket.once('close', () => sockets.delete(socket))
  })
  let isClosing = false
  app.addHook('preClose', (done) => {
    isClosing = true
    // The server closes only connections that are idle at first. Later idle ones would keep it open for as long as clients like, and so would
    // those on which nothing was ever sent, which it does not count as idle.
    const closeUnused = (): void => {
      app.server.closeIdleConnections()
      const unusedMs = performance.now() - UNUSED_MS
      for (const [socket, openedMs] of sockets) if (socket.bytesRead === 0 && openedMs < unusedMs) socket.destroy()
    }
    // After reading: on a busy machine a request may have waited for its turn as long as for the timer.
    const sweep = setInterval(() => setImmediate(closeUnused), CLOSE_IDLE_MS).unref()
    const late = setTimeout(() => {
      log.info({ connections: sockets.size }, 'closing connections whose requests do not end')
      for (const socket of sockets.keys()) socket.destroy()
    }, busyMs)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(late)
    })
    afterWaiting(app.server, done)
  })
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    if (!raw.complete) readToEnd(raw, reply.raw)
    done()
  })
}

/**
 * Calls back when no connection waits to be accepted: the system would reset it when the port is closed. A connection that arrives while the event loop runs
 * other callbacks is seen only in its next iteration, so the iteration that found none must have been a short one. What arrives within these microseconds is
 * still reset; only a proxy that asks `/ready` before it sends a request, or repeats it, avoids that.
 */
function afterWaiting(server: Server, done: () => void): void {
  const startedMs = performance.now()
  let isAccepting = true
  let iterationMs = startedMs
  const note = (): void => {
    isAccepting = true
  }
  server.on('connection', note)
  const check = (): void => {
    const nowMs = performance.now()
    const isQuiet = !isAccepting && nowMs - iterationMs < ITERATION_MS_MAX
    if (isQuiet || nowMs - startedMs > ACCEPT_MS_MIN + ACCEPT_MS_MAX) {
      server.off('connection', note)
      done()
      return
    }
    isAccepting = false
    iterationMs = nowMs
    setImmediate(check)
  }
  setTimeout(check, ACCEPT_MS_MIN)
}
