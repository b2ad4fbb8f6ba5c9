/** An event of the fleet, before a cause changes it. */
export type FleetEvent = Record<string, unknown> & { service: string; level: string; message: string; status: number; duration_ms: number }

export type FleetRandom = { number(): number; pick<T>(list: readonly T[]): T }

/** A cause: how it changes an event of the range (undefined removes it), and the name by which it has to be found. */
export type PlantedCause = {
  readonly name: string
  readonly plant: (event: FleetEvent, random: FleetRandom) => FleetEvent | undefined
  readonly expected: { readonly key: string; readonly value: RegExp | null; readonly change: readonly string[] }
}

const SERVICES = ['gateway', 'catalog', 'checkout', 'payments', 'search', 'mailer', 'profile']
const VERBS = ['read', 'stored', 'sent', 'resolved', 'queued', 'checked']
const THINGS = ['order', 'cart', 'invoice', 'session', 'product', 'address', 'voucher', 'label']
const rises = ['NEW', 'INCREASED']

export const causes: readonly PlantedCause[] = [
  {
    name: 'a version is rolled out',
    plant: (event, { number }) => (number() < 0.6 ? { ...event, version: '4.2.0' } : event),
    expected: { key: 'version', value: /^4\.2\.0$/, change: ['NEW'] },
  },
  {
    name: 'one host gets more traffic',
    plant: (event, { number }) => (number() < 0.35 ? { ...event, host: 'node-03' } : event),
    expected: { key: 'host', value: /^node-03$/, change: rises },
  },
  {
    name: 'one region fails over to another',
    plant: (event) => (event.region === 'eu-west' ? { ...event, region: 'ap-south' } : event),
    expected: { key: 'region', value: /^(eu-west|ap-south)$/, change: ['INCREASED', 'VANISHED'] },
  },
  {
    name: 'a new error message',
    plant: (event, { number }) =>
      number() < 0.03
        ? {
            ...event,
            level: 'error',
            message: `HikariPool-1 - Connection ${Math.floor(number() * 1e6)} is not available, request timed out`,
          }
        : event,
    expected: { key: '@pattern', value: /HikariPool/, change: ['NEW'] },
  },
  {
    name: 'a status',
    plant: (event, { number }) => (number() < 0.12 ? { ...event, status: 503 } : event),
    expected: { key: 'status', value: /^503$/, change: rises },
  },
  {
    name: 'slow requests',
    plant: (event, { number }) => (number() < 0.1 ? { ...event, duration_ms: 4_000 + Math.floor(number() * 5_000) } : event),
    expected: { key: 'duration_ms', value: /^(1000|2000)$/, change: rises },
  },
  {
    name: 'a field is missing',
    plant: ({ user, ...event }, { number }) => (number() < 0.4 ? event : { ...event, user }),
    expected: { key: 'user', value: null, change: rises },
  },
  {
    name: 'a service vanishes',
    plant: (event) => (event.service === 'search' ? undefined : event),
    expected: { key: 'service', value: /^search$/, change: ['VANISHED'] },
  },
  {
    name: 'one customer',
    plant: (event, { number }) => (number() < 0.2 ? { ...event, customer: 'acme, inc.' } : event),
    expected: { key: 'customer', value: /^acme, inc\.$/, change: rises },
  },
  {
    name: 'a type of exception',
    plant: (event, { number }) =>
      number() < 0.05 ? { ...event, level: 'error', exception: { type: 'java.net.SocketTimeoutException' } } : event,
    expected: { key: 'exception.type', value: /SocketTimeout/, change: rises },
  },
]

/** The number of a request is its time after this one, so that it rises at any time at which the tests run. */
const FIRST_REQUEST_MS = Date.UTC(2020, 0, 1)

/** Lines of a fleet of services over a time. Its traffic swings, its values are uneven, and one of its services is a little unsteady. */
export function fleetLines(
  seed: number,
  { fromMs, toMs, events, cause }: { fromMs: number; toMs: number; events: number; cause?: PlantedCause },
): string[] {
  const random = randomOf(seed)
  const lines: string[] = []
  for (let at = 0; at < events; at += 1) {
    const event = cause ? cause.plant(fleetEvent(random), random) : fleetEvent(random)
    const timeMs = fromMs + Math.floor(((toMs - fromMs) * at) / events)
    if (event) lines.push(JSON.stringify({ time: new Date(timeMs).toISOString(), request: timeMs - FIRST_REQUEST_MS, ...event }))
  }
  return lines
}

function fleetEvent(random: FleetRandom): FleetEvent {
  const { number, pick } = random
  const service = SERVICES[Math.floor(number() ** 1.5 * SERVICES.length)] ?? 'gateway'
  const isError = number() < (service === 'mailer' ? 0.04 : 0.008)
  const status = isError ? pick([500, 502, 503]) : number() < 0.05 ? pick([301, 404, 404, 409]) : 200
  return {
    level: isError ? 'error' : number() < 0.03 ? 'warn' : 'info',
    service,
    kubernetes: { container: service, namespace: service === 'mailer' ? 'back' : 'front' },
    host: `node-0${1 + Math.floor(number() * 8)}`,
    region: pick(['eu-west', 'eu-west', 'eu-west', 'us-east', 'us-east', 'ap-south']),
    version: '4.1.7',
    status,
    duration_ms: Math.round(Math.exp(2.5 + 1.1 * (number() + number() + number() - 1.5))),
    customer: `customer-${Math.floor(number() ** 3 * 400)}`,
    user: pick(['ada', 'grace', 'katherine', 'edsger', 'barbara', 'donald', 'radia', 'leslie']),
    message: isError
      ? `${pick(THINGS)} ${Math.floor(number() * 1e5)} was not ${pick(VERBS)}`
      : `${pick(VERBS)} ${pick(THINGS)} ${Math.floor(number() * 1e5)}`,
    trace_id: Math.floor(number() * 2 ** 48).toString(16),
    ...(isError && number() < 0.3 ? { exception: { type: pick(['java.io.IOException', 'java.lang.IllegalStateException']) } } : {}),
  }
}

function randomOf(seed: number): FleetRandom {
  let state = seed >>> 0
  const number = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return { number, pick: (list) => list[Math.floor(number() * list.length)] as (typeof list)[number] }
}
