import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'

/** A client sends nothing but control frames. */
const MESSAGE_BYTES_MAX = 4 * 1_024
const GOING_AWAY = 1_001

/** Requests that are to become WebSockets. Their sockets are kept until a handler accepts them. */
export type Upgrades = {
  /** Accepts the request as a WebSocket, or returns undefined if the client did not request one. */
  accept(reply: FastifyReply): Promise<WebSocket | undefined>
}

/**
 * Lets requests for WebSockets pass the same checks as all others. Only paths that `isUpgradable` accepts are upgraded; elsewhere the header
 * Upgrade has no effect.
 */
export function openUpgrades(app: FastifyInstance): Upgrades {
  const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false })
  const waiting = new WeakMap<IncomingMessage, { socket: Duplex; head: Buffer; response: ServerResponse }>()
  app.server.on('upgrade', (request: IncomingMessage, socket, head) => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
    response.once('finish', () => socket.end())
    socket.on('error', () => socket.destroy())
    waiting.set(request, { socket, head, response })
    app.routing(request, response)
  })
  app.addHook('preClose', (done) => {
    for (const client of server.clients) {
      client.close(GOING_AWAY, 'the service stops')
      client.terminate()
    }
    done()
  })
  return {
    accept: ({ request }) => {
      const upgrade = waiting.get(request.raw)
      if (!upgrade) return Promise.resolve(undefined)
      waiting.delete(request.raw)
      const { socket, head, response } = upgrade
      response.removeAllListeners('finish')
      response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
      return new Promise((resolve) => server.handleUpgrade(request.raw, socket, head, resolve))
    },
  }
}

export const isWebSocketRequest = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade?.trim().toLowerCase() === 'websocket'
