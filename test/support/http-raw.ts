import { connect, type Socket } from 'node:net'
import type { Reply } from './world.ts'

/** Only ends what hangs. */
const ANSWER_BOUND_MS = 120_000

export type Wire = { socket: Socket; text: Promise<string> }

/** Opens a socket to the service; `text` is everything received until the service closed it. */
export function openWire(url: string): Wire {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const text = new Promise<string>((resolve, reject) => {
    const pieces: Buffer[] = []
    const late = setTimeout(() => socket.destroy(new Error('the service neither answered nor closed the connection')), ANSWER_BOUND_MS)
    socket.on('data', (piece) => pieces.push(piece))
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      // A service that refuses a request while we still write it may close before we are done.
      if ((cause.code === 'ECONNRESET' || cause.code === 'EPIPE') && pieces.length > 0) return
      clearTimeout(late)
      reject(cause)
    })
    socket.on('close', () => {
      clearTimeout(late)
      resolve(Buffer.concat(pieces).toString())
    })
  })
  return { socket, text }
}

/** Writes bytes and reads until the service closes the connection. */
export async function exchange(url: string, ...bytes: (string | Uint8Array)[]): Promise<Reply[]> {
  const { socket, text } = openWire(url)
  for (const piece of bytes) socket.write(piece)
  return repliesIn(await text)
}

/** Splits the responses of a connection; each has its length or is chunked. */
export function repliesIn(text: string): Reply[] {
  const replies: Reply[] = []
  let rest = text
  while (rest.startsWith('HTTP/')) {
    const end = rest.indexOf('\r\n\r\n')
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = new Headers(
      lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = Number(headers.get('content-length') ?? 0)
    const body = Buffer.from(rest.slice(end + 4))
      .subarray(0, length)
      .toString()
    rest = Buffer.from(rest.slice(end + 4))
      .subarray(length)
      .toString()
    const isJson = headers.get('content-type')?.includes('json') && body !== ''
    replies.push({ status: Number(first.split(' ')[1]), headers, body: isJson ? JSON.parse(body) : body })
  }
  return replies
}

/** Formats one HTTP/1.1 request. */
export function request(line: string, headers: Record<string, string>, body = ''): string {
  const all = {
    host: 'dendro.test',
    connection: 'close',
    ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  return `${line} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`
}
