import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'

/**
 * A plain proxy: each request goes to the next process, on a connection of its own. A process that accepts no connection is passed over. Any other
 * failure breaks the connection of the client, as a proxy that repeats no posts does.
 */
export type RoundRobin = { url: string; broken: readonly string[]; close(): Promise<void> }

export async function openRoundRobin(ports: readonly number[]): Promise<RoundRobin> {
  const broken: string[] = []
  let target = 0

  function pass(message: IncomingMessage, body: Buffer, response: ServerResponse, at: number, triesLeft = ports.length): void {
    const port = ports[at % ports.length] ?? 0
    const { method, url: path, headers } = message
    const onward = request({ host: '127.0.0.1', port, method, path, headers: { ...headers, connection: 'close' }, agent: false })
    onward.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      answer.once('error', () => response.destroy())
    })
    onward.once('error', (cause: NodeJS.ErrnoException) => {
      if (response.destroyed) return
      if (cause.code === 'ECONNREFUSED' && triesLeft > 1) return pass(message, body, response, at + 1, triesLeft - 1)
      broken.push(`${method} ${path}: ${cause.code} ${cause.message}`)
      response.destroy()
    })
    response.once('close', () => onward.destroy())
    onward.end(body)
  }

  const server = createServer(async (message, response) => {
    const parts: Buffer[] = []
    for await (const part of message) parts.push(part)
    pass(message, Buffer.concat(parts), response, target)
    target += 1
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    broken,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
