export type GivenSpan = {
  id: string
  parent?: string
  service: string
  from: number
  to: number
  name?: string
  kind?: number
  error?: string
  /** Attributes that name whom the span calls. */
  peer?: Readonly<Record<string, string>>
}

type Sender = { ask(method: 'POST', path: string, given: { raw: string; headers: Record<string, string> }): Promise<{ status: number }> }

const NS_PER_MS = 1_000_000n

export const spanId = (id: string): string => Buffer.from(id.padEnd(8, '.')).toString('hex')

type GivenTraces = readonly (readonly [traceId: string, spans: readonly GivenSpan[]])[]

/** Sends spans as OTLP, of one trace or of several. Their times are milliseconds after the start. */
export async function sendSpans(to: Sender, startMs: number, traceId: string, spans: readonly GivenSpan[]): Promise<void>
export async function sendSpans(to: Sender, startMs: number, traces: GivenTraces): Promise<void>
export async function sendSpans(to: Sender, startMs: number, given: string | GivenTraces, own: readonly GivenSpan[] = []): Promise<void> {
  const spans = (typeof given === 'string' ? [[given, own] as const] : given).flatMap(([traceId, of]) =>
    of.map((span) => ({ ...span, traceId })),
  )
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const nano = (offset: number) => String((BigInt(startMs) + BigInt(offset)) * NS_PER_MS)
  const resourceSpans = [...Map.groupBy(spans, ({ service }) => service)].map(([service, group]) => ({
    resource: { attributes: [attribute('service.name', service)] },
    scopeSpans: [
      {
        spans: group.map(({ traceId, id, parent, from, to: end, name = id, kind = 1, error, peer = {} }) => ({
          traceId,
          spanId: spanId(id),
          ...(parent ? { parentSpanId: spanId(parent) } : {}),
          name,
          kind,
          startTimeUnixNano: nano(from),
          endTimeUnixNano: nano(end),
          attributes: [attribute('cart.id', `cart-${id}`), ...Object.entries(peer).map(([key, value]) => attribute(key, value))],
          ...(error
            ? {
                status: { code: 2, message: error },
                events: [{ timeUnixNano: nano(from + 1), name: 'exception', attributes: [attribute('exception.type', 'Refused')] }],
              }
            : {}),
        })),
      },
    ],
  }))
  const reply = await to.ask('POST', '/v1/traces', {
    raw: JSON.stringify({ resourceSpans }),
    headers: { 'content-type': 'application/json' },
  })
  if (reply.status !== 200) throw new Error(`the spans were refused with ${reply.status}`)
}
