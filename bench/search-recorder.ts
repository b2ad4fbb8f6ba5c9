import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'

/** A Recorder stands between the service and its event store and notes when statements of callers are under way. */
export type Recorder = {
  url: string
  /** take gives the time for which at least one statement was under way since it was asked last, and how many there were. */
  take(): { busyMs: number; statements: number }
  close(): void
}

type Span = { fromMs: number; toMs: number }

/** openRecorder passes on to a store what comes; what it takes itself counts against the service. */
export async function openRecorder(store: URL): Promise<Recorder> {
  let spans: Span[] = []
  const server = createServer((asked, answer) => pass(store, asked, answer, (span) => spans.push(span)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = new URL(store)
  url.port = String(typeof address === 'object' && address ? address.port : 0)
  return {
    url: url.href,
    take: () => {
      const taken = spans
      spans = []
      return { busyMs: coveredMs(taken), statements: taken.length }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function pass(store: URL, asked: IncomingMessage, answer: ServerResponse, note: (span: Span) => void): void {
  const fromMs = performance.now()
  const { hostname, port } = store
  const onward = request({ hostname, port, path: asked.url, method: asked.method, headers: asked.headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 502, answered.headers)
    answered.pipe(answer)
    // Only what is asked for somebody carries his organization; the rest is the service's own housekeeping.
    if (asked.url?.includes('log_comment=')) answered.once('end', () => note({ fromMs, toMs: performance.now() }))
  })
  onward.once('error', () => answer.destroy())
  answer.once('close', () => onward.destroy())
  asked.pipe(onward)
}

/** coveredMs is the time that spans cover, what they share counted once. */
function coveredMs(spans: readonly Span[]): number {
  let covered = 0
  let untilMs = Number.NEGATIVE_INFINITY
  for (const { fromMs, toMs } of spans.toSorted((one, other) => one.fromMs - other.fromMs)) {
    covered += Math.max(0, toMs - Math.max(fromMs, untilMs))
    untilMs = Math.max(untilMs, toMs)
  }
  return covered
}
