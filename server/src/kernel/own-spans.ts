import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

type SpanFacts = Readonly<Record<string, string | number | undefined>>

/** A span of the service itself that has ended. Times are nanoseconds since 1970. */
export type OwnSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly kind: 'server' | 'client' | 'internal'
  readonly name: string
  readonly startNs: bigint
  readonly endNs: bigint
  readonly facts: SpanFacts
  readonly isFailed: boolean
}

type SpanSink = (span: OwnSpan) => void
type CallerSpan = { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean }

/** How many spans a request has at most, besides its own. */
const CHILDREN_MAX = 500

/** What the spans of one request share. Their times keep their order when the clock is set. */
type Recording = { readonly sink: SpanSink; readonly traceId: string; readonly startedNs: bigint; readonly startedMs: number; left: number }
type CurrentSpan = { readonly recording: Recording; readonly spanId: string }

const current = new AsyncLocalStorage<CurrentSpan>()

/** The span of a request until it ends. */
export type RequestSpan = {
  /** Runs what belongs to the request. */
  within<T>(run: () => T): T
  end(ended: { name: string; facts: SpanFacts; isFailed: boolean }): void
}

/** Begins the span of a request, unless the caller's trace, or chance, says that it is not recorded. */
export function beginRequest(sink: SpanSink, share: number, traceparent: string | undefined): RequestSpan | undefined {
  const caller = readTraceparent(traceparent)
  if (caller ? !caller.isSampled : Math.random() >= share) return undefined
  const startedMs = performance.now()
  const recording: Recording = {
    sink,
    traceId: caller?.traceId ?? newId(16),
    startedNs: BigInt(Date.now()) * 1_000_000n,
    startedMs,
    left: CHILDREN_MAX,
  }
  const spanId = newId(8)
  return {
    within: (run) => current.run({ recording, spanId }, run),
    end: (ended) => record(recording, { ...ended, kind: 'server', spanId, parentId: caller?.spanId, startedMs }),
  }
}

/** Runs a part of a request in a span of its own, where the request is recorded. */
export function inSpan<T>(kind: 'client' | 'internal', name: string, facts: SpanFacts, run: () => Promise<T>): Promise<T> {
  const parent = current.getStore()
  if (!parent || parent.recording.left <= 0) return run()
  const { recording } = parent
  recording.left -= 1
  const spanId = newId(8)
  const startedMs = performance.now()
  const end = (isFailed: boolean): void => record(recording, { kind, name, facts, isFailed, spanId, parentId: parent.spanId, startedMs })
  return current.run({ recording, spanId }, async () => {
    try {
      const result = await run()
      end(false)
      return result
    } catch (thrown) {
      end(true)
      throw thrown
    }
  })
}

type Ended = Omit<OwnSpan, 'traceId' | 'startNs' | 'endNs'> & { readonly startedMs: number }

function record({ sink, traceId, startedNs, startedMs: firstMs }: Recording, { startedMs, ...span }: Ended): void {
  const at = (ms: number): bigint => startedNs + BigInt(Math.round((ms - firstMs) * 1_000)) * 1_000n
  sink({ ...span, traceId, startNs: at(startedMs), endNs: at(performance.now()) })
}

const newId = (bytes: number): string => randomBytes(bytes).toString('hex')

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** Reads the header of W3C Trace Context; undefined when it has another form. */
export function readTraceparent(text: string | undefined): CallerSpan | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
