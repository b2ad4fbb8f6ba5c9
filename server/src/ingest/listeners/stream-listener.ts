import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type SecureContextOptions, type TLSSocket } from 'node:tls'
import type { Logger } from '../../kernel/log.ts'
import { plainAddress } from '../../kernel/networks.ts'
import type { MessageSource } from '../receivers/messages.ts'
import { type ConnectionTimes, type HeldMessage, overdue, timesAfter, timesAfterPause } from './connection-times.ts'
import type { CloseReason, ListenerCounters } from './counters.ts'
import { senderCheck } from './senders-allowed.ts'
import type { ListenerSetting } from './setting.ts'
import { spareConnection } from './spare-connection.ts'

/** The peer of a connection, as a protocol sees it. */
export type Peer = {
  readonly source: MessageSource
  write(bytes: Uint8Array | string): void
  /** Stops reading until `resume`; the sender has to wait then. */
  pause(): void
  resume(): void
  /** Closes after what was written; with a reason when the peer is at fault. */
  close(reason?: CloseReason): void
}

/** One protocol on one connection. */
export type StreamConnection = {
  data(chunk: Uint8Array): void
  /** The peer sends no more. */
  end(): void
  /** The incomplete message; undefined when none has begun. A message must not stay incomplete for long. */
  held(): HeldMessage | undefined
  /** Resolves when everything that was read is stored and answered. */
  settled(): Promise<void>
  /** True when the sender repeats what was not answered; otherwise a stop also reads what is on its way. */
  hasAnswers: boolean
}

export type StreamListenerOptions = {
  setting: ListenerSetting
  tls: SecureContextOptions | undefined
  counters: ListenerCounters
  log: Logger
  connect(peer: Peer): StreamConnection
  bounds?: Partial<ConnectionBounds>
}
export type ConnectionBounds = {
  connectionsMax: number
  /** Bounds the incomplete messages of all connections together. */
  heldBytesMax: number
  handshakeMs: number
  /** The time for a message to become complete. */
  messageMs: number
  idleMs: number
  /** A full listener may close a connection for another sender when it was not used for this long. */
  spareMs: number
  checkEveryMs: number
  /** The time for a peer to read what was written to it when the service stops. */
  closeMs: number
}
/** Senders keep connections open without traffic, so the idle time is long. */
const BOUNDS: ConnectionBounds = {
  connectionsMax: 4_096,
  heldBytesMax: 64 * 2 ** 20,
  handshakeMs: 10_000,
  messageMs: 60_000,
  idleMs: 30 * 60_000,
  spareMs: 60_000,
  checkEveryMs: 5_000,
  closeMs: 2_000,
}

export type OpenListener = {
  port: number
  /** Takes over a new certificate for new connections; for listeners with TLS only. */
  renew?(tls: SecureContextOptions): void
  /** Stops accepting, finishes and closes. */
  close(): Promise<void>
}

type Open = { socket: Socket; connection: StreamConnection; times: ConnectionTimes }

export async function openStreamListener(options: StreamListenerOptions): Promise<OpenListener> {
  const { setting, tls, counters, log } = options
  const bounds = { ...BOUNDS, ...options.bounds }
  const isAllowed = senderCheck(setting.networks)
  const sockets = new Set<Socket>()
  const open = new Set<Open>()

  /** Counts every connection, also one that never finishes a TLS handshake. */
  function admit(socket: Socket): boolean {
    const reason = !isAllowed(plainAddress(socket.remoteAddress ?? ''))
      ? 'network'
      : sockets.size >= bounds.connectionsMax && !closeSpare(plainAddress(socket.remoteAddress ?? ''))
        ? 'too_many'
        : undefined
    if (reason !== undefined) {
      counters.close(reason)
      socket.destroy()
      return false
    }
    sockets.add(socket)
    counters.connections = sockets.size
    socket.once('close', () => {
      sockets.delete(socket)
      counters.connections = sockets.size
    })
    socket.on('error', (cause) => log.debug({ err: cause, listener: setting.name }, 'a connection of a sender failed'))
    return true
  }

  /** One sender with many idle connections must not keep others out. */
  function closeSpare(newcomer: string): boolean {
    const all = [...open].map((one) => ({
      one,
      address: plainAddress(one.socket.remoteAddress ?? ''),
      activeMs: one.times.activeMs,
      isPartial: one.connection.held() !== undefined,
    }))
    const spare = spareConnection(all, newcomer, performance.now() - bounds.spareMs)?.one
    if (!spare) return false
    open.delete(spare)
    counters.close('too_many')
    spare.socket.destroy()
    return true
  }

  function serve(socket: Socket): void {
    const connection = options.connect({
      ...peerOf(socket),
      resume: () => {
        socket.resume()
        one.times = timesAfterPause(one.times, performance.now())
      },
    })
    // A protocol with a handshake waits for its first message from the beginning.
    const one: Open = { socket, connection, times: timesAfter(undefined, connection.held(), performance.now()) }
    open.add(one)
    socket.once('close', () => open.delete(one))
    socket.on('data', (chunk) => {
      if (socket.destroyed) return
      const nowMs = performance.now()
      connection.data(chunk as Uint8Array)
      one.times = timesAfter(one.times, connection.held(), nowMs)
    })
    socket.once('end', () => {
      connection.end()
      void connection.settled().then(() => socket.end())
    })
    socket.on('error', (cause) => log.debug({ err: cause, listener: setting.name }, 'a connection of a sender failed'))
  }

  const peerOf = (socket: Socket): Omit<Peer, 'resume'> => ({
    source: { ...sourceOf(socket), ...(setting.zone !== undefined && { zone: setting.zone }) },
    write: (bytes) => void (socket.writable && socket.write(bytes)),
    pause: () => void socket.pause(),
    close: (reason) => {
      if (reason !== undefined) counters.close(reason)
      socket.end(() => socket.destroy())
    },
  })

  /** Closes connections that are idle or incomplete for too long, and the largest incomplete ones while all together hold too much. */
  function sweep(): void {
    const nowMs = performance.now()
    let held = 0
    for (const one of [...open].sort((a, b) => heldBytes(a) - heldBytes(b))) {
      held += heldBytes(one)
      const late = one.socket.isPaused() ? undefined : overdue(one.times, bounds, nowMs)
      const reason = held > bounds.heldBytesMax ? 'memory' : late
      if (reason === undefined) continue
      counters.close(reason)
      one.socket.destroy()
    }
  }

  const secure = tls
    ? createTlsServer(
        { ...tls, allowHalfOpen: true, requestCert: tls.ca !== undefined, rejectUnauthorized: true, handshakeTimeout: bounds.handshakeMs },
        serve,
      )
    : undefined
  const server: Server = secure ?? createServer({ allowHalfOpen: true, noDelay: true }, (socket) => admit(socket) && serve(socket))
  if (secure) {
    secure.on('connection', admit)
    secure.on('tlsClientError', (cause: Error, socket: TLSSocket) => {
      counters.close('handshake')
      log.debug({ err: cause, listener: setting.name }, 'a TLS handshake of a sender failed')
      socket.destroy()
    })
  }
  await listen(server, setting)
  const watch = setInterval(sweep, bounds.checkEveryMs).unref()
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : setting.port,
    renew: (changed) => secure?.setSecureContext(changed),
    close: async () => {
      clearInterval(watch)
      const closed = new Promise<void>((done) => server.close(() => done()))
      await Promise.all([...open].map((one) => finish(one, bounds.closeMs)))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const heldBytes = ({ connection }: Open): number => connection.held()?.bytes ?? 0

async function finish({ socket, connection }: Open, withinMs: number): Promise<void> {
  if (connection.hasAnswers) socket.removeAllListeners('data').pause()
  else {
    // The peer learns that we are leaving, and what it had sent before is read.
    socket.end()
    await closedWithin(socket, 'end', withinMs)
  }
  connection.end()
  await connection.settled()
  if (!connection.hasAnswers) return
  socket.end()
  await closedWithin(socket, 'finish', withinMs)
}

function closedWithin(socket: Socket, event: 'end' | 'finish', withinMs: number): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(late)
      done()
    }
    const late = setTimeout(end, withinMs)
    socket.once(event, end)
    socket.once('close', end)
  })
}

/** Listens, or fails with a sentence that names the setting. */
export function listen(server: Pick<Server, 'listen' | 'once'>, setting: ListenerSetting): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', (cause: NodeJS.ErrnoException) => failed(listenFailure(setting, cause)))
    server.listen({ host: setting.host, port: setting.port }, done)
  })
}

const reasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    EADDRINUSE: 'another program, perhaps another process of this service, uses the port; each listener needs a port of its own',
    EACCES: 'the port needs privileges; use one from 1024 on, or give them to this program (CAP_NET_BIND_SERVICE)',
    EADDRNOTAVAIL: 'this machine has no such address; use one of its addresses, or 0.0.0.0 for all',
    ENOTFOUND: 'the host has no address',
  }),
)

export const listenFailure = ({ name }: Pick<ListenerSetting, 'name'>, cause: NodeJS.ErrnoException): Error =>
  new Error(`DENDRO_LISTENERS names ${name}, but ${reasons.get(cause.code ?? '') ?? cause.message}`, { cause })

/** The address of the peer, and the name in its certificate. */
export function sourceOf(socket: Socket): MessageSource {
  const address = plainAddress(socket.remoteAddress ?? '')
  const subject = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate().subject : undefined
  const name = subject?.CN
  const text = Array.isArray(name) ? name.join(', ') : name
  return { address, attributes: text ? [['$tls.client', text]] : [] }
}
