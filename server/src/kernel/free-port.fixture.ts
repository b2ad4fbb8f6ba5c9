import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** The ports handed out. They are below those that systems give to outgoing connections, so no connection of another test takes one before its program listens. */
const FIRST = 10_000
const PORTS = 10_000

/** A port is taken for as long as its test process lives: that process listens on the port this far above it. */
const MARK = 11_000

let next = Math.floor(Math.random() * PORTS)

/** A port for a program that does not accept port 0, free also after that program has ended. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS; tries++) {
    const port = FIRST + (next++ % PORTS)
    const mark = await listening(port + MARK)
    if (!mark) continue
    mark.unref()
    const probe = await listening(port)
    if (!probe) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
  throw new Error(`there is no free port from ${FIRST} to ${FIRST + PORTS}`)
}

/** Nothing if another program uses the port. */
async function listening(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined
    throw error
  }
}
