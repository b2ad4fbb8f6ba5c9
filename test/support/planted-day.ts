import { createHash } from 'node:crypto'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NS_PER_MS = 1_000_000n

/** What was planted into a day of traces, and how long a request takes that meets it. */
export const planted = {
  /** Since six hours, and for one customer only. */
  version: { hours: [18, 24], customer: 'acme', version: '2.4.0', takesMs: [2_500, 4_500] },
  /** For an hour the bank is busy, so that payments sends each charge several times. */
  retries: { hours: [8, 9], takesMs: [650, 1_800] },
  /** After a restart orders reads everything from its database for twenty minutes. */
  coldCache: { hours: [14, 14 + 1 / 3], takesMs: [210, 450] },
} as const

const customers = [...Array.from({ length: 11 }, (_, at) => `customer-${at}`), 'acme']
const regions = ['eu', 'us', 'asia']
const routes = ['/cart', '/checkout', '/orders', '/account']

type Random = () => number

/** A sequence of numbers from 0 to 1 that depends on the seed alone. */
function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Attributes = Readonly<Record<string, string | number | boolean>>
type PlantedSpan = {
  readonly service: string
  readonly version: string
  readonly name: string
  readonly kind: number
  /** Its position among the spans of its trace. */
  readonly parent?: number
  readonly fromMs: number
  readonly takesMs: number
  readonly attributes: Attributes
  readonly isFailed?: boolean
}
export type PlantedLog = { readonly dataset: string; readonly event: object }
type PlantedTrace = { readonly id: string; readonly spans: readonly PlantedSpan[]; readonly logs: readonly PlantedLog[] }

const isWithin = (hour: number, [from, to]: readonly [number, number]): boolean => hour >= from && hour < to
const pick = <T>(random: Random, of: readonly [T, ...T[]] | readonly T[]): T => of[Math.floor(random() * of.length)] as T
const between = (random: Random, [from, to]: readonly [number, number]): number => from + random() * (to - from)

/** A request: gateway calls orders, which reads its cache or its database and calls payments. */
function traceAt(seed: number, at: number, startMs: number, hour: number, random: Random): PlantedTrace {
  const id = createHash('md5').update(`${seed} ${at}`).digest('hex')
  const customer = pick(random, customers)
  const version = hour >= planted.version.hours[0] && random() < 0.5 ? planted.version.version : '2.3.1'
  const { customer: slowCustomer, version: slowVersion } = planted.version
  const isSlowVersion = customer === slowCustomer && version === slowVersion
  const isRetried = isWithin(hour, planted.retries.hours) && random() < 0.6
  const isCold = isWithin(hour, planted.coldCache.hours)
  const isHit = isCold ? random() < 0.1 : random() < 0.93
  const cause = isSlowVersion ? planted.version : isRetried ? planted.retries : isCold && !isHit ? planted.coldCache : undefined
  const takesMs = cause ? between(random, cause.takesMs) : between(random, [20, 120])
  const common = { 'customer.id': customer }
  const spans: PlantedSpan[] = [
    {
      ...{ service: 'gateway', version: '1.12.0', kind: 2, fromMs: startMs, takesMs },
      name: `POST ${pick(random, routes)}`,
      attributes: {
        ...common,
        'cloud.region': pick(random, regions),
        'http.response.status_code': 200,
        'user.id': `user-${Math.floor(random() * 5_000)}`,
      },
    },
    {
      ...{ service: 'orders', version: '5.0.2', name: 'place order', kind: 2, parent: 0, fromMs: startMs + 2, takesMs: takesMs * 0.95 },
      attributes: { 'order.items': 1 + Math.floor(random() * 9) },
    },
    {
      ...{ service: 'orders', version: '5.0.2', name: 'read items', kind: 1, parent: 1, fromMs: startMs + 3 },
      takesMs: cause === planted.coldCache ? takesMs * 0.8 : 4,
      attributes: { 'cache.hit': isHit, ...(isHit ? {} : { 'db.system': 'postgresql', 'db.operation': 'SELECT' }) },
    },
    {
      ...{ service: 'payments', version, name: 'charge', kind: 2, parent: 1, fromMs: startMs + 10 },
      takesMs: takesMs * (cause === planted.coldCache ? 0.1 : 0.85),
      attributes: { ...common, 'payment.method': pick(random, ['card', 'invoice', 'wallet']) },
    },
  ]
  const calls = isRetried ? 2 + Math.floor(random() * 3) : 1
  for (let call = 0; call < calls; call += 1) {
    const isFailed = call < calls - 1
    spans.push({
      ...{ service: 'payments', version, name: 'POST bank.example', kind: 3, parent: 3, isFailed },
      ...{ fromMs: startMs + 12 + (call * takesMs * 0.8) / calls, takesMs: (takesMs * 0.6) / calls },
      attributes: {
        'server.address': 'bank.example',
        'http.response.status_code': isFailed ? 503 : 200,
        ...(call > 0 ? { 'http.request.resend_count': call } : {}),
      },
    })
  }
  const timestamp = new Date(startMs + 5).toISOString()
  const log = (dataset: string, event: object): PlantedLog => ({ dataset, event: { timestamp, trace_id: id, ...event } })
  const logs = [
    ...(calls > 1 ? [log('payments', { level: 'warn', message: `the bank is busy, sending the charge again (${calls - 1} times)` })] : []),
    ...(isCold && !isHit ? [log('orders', { level: 'info', message: 'the cache has no entry, reading items from the database' })] : []),
    ...(at % 20 === 0 ? [log('orders', { level: 'info', message: `order ${at} placed by ${customer}` })] : []),
  ]
  return { id, spans, logs }
}

/** A day of requests to three services that ends at endMs, about 4.5 spans in each; the same for the same seed. */
export function* plantedDay(seed: number, endMs: number, traces: number): Generator<PlantedTrace> {
  const random = randomOf(seed)
  for (let at = 0; at < traces; at += 1) {
    // The last requests have ended before the day has.
    const startMs = Math.floor(endMs - DAY_MS + ((DAY_MS - MINUTE_MS) * (at + random() * 0.9)) / traces)
    yield traceAt(seed, at, startMs, (startMs - (endMs - DAY_MS)) / HOUR_MS, random)
  }
}

const attributeValue = (value: string | number | boolean): object =>
  typeof value === 'string' ? { stringValue: value } : typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) }
const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: attributeValue(value) }))
const nanoOf = (ms: number): string => String(BigInt(Math.floor(ms * 1_000)) * (NS_PER_MS / 1_000n))

/** Traces as a request of OpenTelemetry in JSON. */
export function exportOf(traces: readonly PlantedTrace[]): string {
  const spans = traces.flatMap(({ id, spans: own }) =>
    own.map((span, at) => ({ span, key: JSON.stringify([span.service, span.version]), id, spanId: spanIdOf(id, at) })),
  )
  return JSON.stringify({
    resourceSpans: [...Map.groupBy(spans, ({ key }) => key).values()].map((group) => ({
      resource: {
        attributes: attributesOf({ 'service.name': group[0]?.span.service ?? '', 'service.version': group[0]?.span.version ?? '' }),
      },
      scopeSpans: [
        {
          spans: group.map(({ span, id, spanId }) => ({
            traceId: id,
            spanId,
            ...(span.parent === undefined ? {} : { parentSpanId: spanIdOf(id, span.parent) }),
            name: span.name,
            kind: span.kind,
            startTimeUnixNano: nanoOf(span.fromMs),
            endTimeUnixNano: nanoOf(span.fromMs + span.takesMs),
            attributes: attributesOf(span.attributes),
            ...(span.isFailed ? { status: { code: 2, message: 'service unavailable' } } : {}),
          })),
        },
      ],
    })),
  })
}

const spanIdOf = (traceId: string, at: number): string => `${traceId.slice(0, 14)}${(at + 1).toString(16).padStart(2, '0')}`
