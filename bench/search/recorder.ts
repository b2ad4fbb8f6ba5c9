import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'

/** A proxy between the service and its event store that records when statements of callers run. */
export type Recorder = {
  url: string
  /** Returns the time with at least one running statement since the last call, and their number. */
  take(): { busyMs: number; statements: number }
  close(): void
}

type Span = { fromMs: number; toMs: number }

/** Forwards requests to a store; its own time counts against the service. */
export async function openRecorder(store: URL): Promise<Recorder> {
  let spans: Span[] = []
  const agent = new Agent({ keepAlive: true })
  const server = createServer((incoming, answer) => pass({ store, agent }, incoming, answer, (span) => spans.push(span)))
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
      // The engine waits for open connections when it stops.
      agent.destroy()
    },
  }
}

type Onward = { store: URL; agent: Agent }

function pass({ store, agent }: Onward, incoming: IncomingMessage, answer: ServerResponse, note: (span: Span) => void): void {
  const fromMs = performance.now()
  const { hostname, port } = store
  const { url: path, method, headers } = incoming
  const onward = request({ hostname, port, agent, path, method, headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 502, answered.headers)
    answered.pipe(answer)
    // Only statements for callers have the comment; the rest is housekeeping of the service.
    if (incoming.url?.includes('log_comment=')) answered.once('end', () => note({ fromMs, toMs: performance.now() }))
  })
  onward.once('error', () => answer.destroy())
  answer.once('close', () => onward.destroy())
  incoming.pipe(onward)
}

/** The time covered by spans, counting overlaps once. */
function coveredMs(spans: readonly Span[]): number {
  let covered = 0
  let untilMs = Number.NEGATIVE_INFINITY
  for (const { fromMs, toMs } of spans.toSorted((one, other) => one.fromMs - other.fromMs)) {
    covered += Math.max(0, toMs - Math.max(fromMs, untilMs))
    untilMs = Math.max(untilMs, toMs)
  }
  return covered
}
