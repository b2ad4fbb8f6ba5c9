import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'

/** A proxy between the service and the metadata server. It can become silent like a broken network, lose replies, or close connections. */
export type NetworkProxy = {
  url: string
  silence(): void
  loseReplies(): void
  refuseNew(): void
  cut(): void
  /** Ends all connections; the port answers no more. */
  refuse(): Promise<void>
  restore(): Promise<void>
  close(): Promise<void>
}

export async function openProxy(target: string): Promise<NetworkProxy> {
  const url = new URL(target)
  const socketDir = url.searchParams.get('host')
  const { port, hostname } = new URL(target)
  const connectTarget = () => (socketDir ? connect(join(socketDir, '.s.PGSQL.5432')) : connect(Number(port || 5432), hostname))
  const pairs = new Set<Socket>()
  let state: 'open' | 'silent' | 'cut' | 'replies lost' | 'no new connections' = 'open'
  const accepted = new Set<Socket>()
  const drop = () => {
    for (const socket of pairs) socket.destroy()
  }
  const begin = (client: Socket): void => {
    const upstream = connectTarget()
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      pairs.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        const isFlowing = state === 'open' || (state === 'no new connections' && accepted.has(client))
        if (isFlowing || (state === 'replies lost' && socket === client)) other.write(bytes)
        // The statement has been executed when its reply arrives. The reply is dropped.
        else if (state === 'replies lost') drop()
      })
      socket.on('close', () => {
        pairs.delete(socket)
        if (state !== 'silent') other.destroy()
      })
    }
    if (state === 'open') accepted.add(client)
    if (state === 'cut') client.destroy()
  }
  let server: Server | undefined
  const listen = async (on: number): Promise<number> => {
    server = createServer(begin).listen(on, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address ? address.port : on
  }
  const stop = async (): Promise<void> => {
    const stopped = server
    server = undefined
    drop()
    if (stopped) await new Promise((resolve) => stopped.close(resolve))
  }
  const ownPort = await listen(0)
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${ownPort}`
  return {
    url: url.href,
    silence: () => {
      state = 'silent'
    },
    loseReplies: () => {
      state = 'replies lost'
    },
    refuseNew: () => {
      state = 'no new connections'
    },
    cut: () => {
      state = 'cut'
      drop()
    },
    refuse: stop,
    restore: async () => {
      state = 'open'
      drop()
      if (!server) await listen(ownPort)
    },
    close: stop,
  }
}
