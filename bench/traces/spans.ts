/** The spans of the bench: traces of ten spans in five services over a day, and one trace with many. */

export const SPANS_OF_TRACE = 10
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const LARGE_TRACE_SPANS = 10_000
export const LARGE_TRACE = 'f'.repeat(32)
const services = ['gateway', 'shop', 'pay', 'store', 'mail'] as const

const TRACES_OF_POST = 200
/** Posts are made in advance, so that only sending them counts. */
const POSTS_AT_ONCE = 32
const SENDERS = 4

/** How many traces there are, and when the last one begins. */
export type Day = { readonly traces: number; readonly endMs: number }

export const idOf = (trace: number): string => ((BigInt(trace) + 1n) * 0x9e37_79b9_7f4a_7c15n).toString(16).padStart(32, '0').slice(-32)
const spanIdOf = (trace: number, span: number): string => (trace * SPANS_OF_TRACE + span + 1).toString(16).padStart(16, '0')
export const startOf = ({ traces, endMs }: Day, trace: number): number => endMs - DAY_MS + Math.floor((trace / traces) * DAY_MS)

/** A root with nine spans below it. Some traces are slow, and some fail. */
function spansOf(day: Day, trace: number): Map<string, object[]> {
  const startMs = startOf(day, trace)
  const takesMs = 5 + ((trace * 7_919) % 400) + (trace % 997 === 0 ? 5_000 : 0)
  const found = new Map<string, object[]>()
  for (let span = 0; span < SPANS_OF_TRACE; span += 1) {
    const service = services[span % services.length] ?? services[0]
    const from = startMs + (span * takesMs) / (2 * SPANS_OF_TRACE)
    const list = found.get(service) ?? []
    list.push({
      traceId: idOf(trace),
      spanId: spanIdOf(trace, span),
      ...(span === 0 ? {} : { parentSpanId: spanIdOf(trace, Math.floor((span - 1) / 2)) }),
      name: span === 0 ? `GET /page/${trace % 20}` : `step ${span}`,
      kind: 2,
      startTimeUnixNano: nano(from),
      endTimeUnixNano: nano(from + takesMs / (span + 1)),
      attributes: [
        { key: 'http.status_code', value: { intValue: String(trace % 50 === 0 ? 500 : 200) } },
        { key: 'user.id', value: { stringValue: `user-${trace % 5_000}` } },
      ],
      ...(trace % 50 === 0 && span % 3 === 0 ? { status: { code: 2, message: 'failed' } } : {}),
    })
    found.set(service, list)
  }
  return found
}

const nano = (ms: number): string => String(BigInt(Math.floor(ms * 1_000)) * 1_000n)

/** Sends all spans and returns how long that took, without the time in which posts are made. */
export async function sendSpans(url: string, headers: Record<string, string>, day: Day): Promise<number> {
  const post = async (body: string): Promise<void> => {
    const answer = await fetch(`${url}/v1/traces`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
    if (!answer.ok) throw new Error(`the spans were refused: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  let sentMs = 0
  for (let first = 0; first < day.traces; ) {
    const bodies: string[] = []
    for (; bodies.length < POSTS_AT_ONCE && first < day.traces; first += TRACES_OF_POST) bodies.push(bodyOf(day, first))
    const startedMs = performance.now()
    await Promise.all(
      Array.from({ length: SENDERS }, async () => {
        for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) await post(body)
      }),
    )
    sentMs += performance.now() - startedMs
  }
  await post(largeTrace(day))
  return sentMs
}

function bodyOf(day: Day, first: number): string {
  const byService = new Map<string, object[]>()
  for (let trace = first; trace < Math.min(day.traces, first + TRACES_OF_POST); trace += 1) {
    for (const [service, spans] of spansOf(day, trace)) {
      const known = byService.get(service)
      if (known) known.push(...spans)
      else byService.set(service, spans)
    }
  }
  return exportOf(byService)
}

const exportOf = (byService: ReadonlyMap<string, readonly object[]>): string =>
  JSON.stringify({
    resourceSpans: [...byService].map(([service, spans]) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [{ spans }],
    })),
  })

/** A root with many spans below it, four levels deep. */
function largeTrace({ endMs }: Day): string {
  const startMs = endMs - HOUR_MS / 2
  const spans = Array.from({ length: LARGE_TRACE_SPANS }, (_, span) => ({
    traceId: LARGE_TRACE,
    spanId: (span + 1).toString(16).padStart(16, 'e'),
    ...(span === 0 ? {} : { parentSpanId: (Math.floor((span - 1) / 10) + 1).toString(16).padStart(16, 'e') }),
    name: `step ${span % 50}`,
    kind: 1,
    startTimeUnixNano: nano(startMs + span),
    endTimeUnixNano: nano(startMs + (span === 0 ? 2 * LARGE_TRACE_SPANS : span + 5)),
    attributes: [{ key: 'batch', value: { intValue: String(span) } }],
  }))
  return exportOf(new Map([['jobs', spans]]))
}
