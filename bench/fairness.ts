import { newDataDir, printTable, removeDataDir, startService } from './service.ts'

/**
 * Measures what one organization's queries cost another: node bench/fairness.ts [--events 1000000] [--queries 40] [--seconds 20]
 * The busy organization asks with so many queries at once, over several keys; the other one asks one after the other, and events are sent all the
 * time. A refusal with 429 is what the busy one is meant to get.
 */
const given = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const EVENTS = given('events', 1_000_000)
const QUERIES = given('queries', 40)
const SECONDS = given('seconds', 20)
const KEYS = 6
const BODY_LINES = 10_000
const PAUSE_MS = 100
const P95_RATIO_MAX = 3

type Measured = { readonly ms: number[]; readonly statuses: Map<number, number> }

const dataDir = await newDataDir()
const service = await startService(dataDir)
try {
  const busy = await organization('busy')
  const quiet = await organization('quiet')
  for (const { keys } of [busy, quiet]) await fill(keys[0] ?? '')
  const alone = await phase(quiet.keys, [])
  const together = await phase(quiet.keys, busy.keys)
  const rows = [
    ['p95 of the quiet organization, alone', '', `${p95(alone.quiet)} ms`],
    [
      'p95 next to the busy one',
      `≤ ${P95_RATIO_MAX} times`,
      `${p95(together.quiet)} ms, ${(p95(together.quiet) / p95(alone.quiet)).toFixed(2)} times`,
    ],
    ['answers to the quiet organization', 'all 200', shown(together.quiet)],
    ['answers to ingestion', 'no 503', shown(together.ingestion)],
    ['answers to the busy organization', '200 and 429', shown(together.busy)],
  ]
  printTable(['what', 'aim', 'found'], rows)
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}

async function ask<T>(
  key: string,
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<{ status: number; body: T }> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-service-api-key': key, 'content-type': type },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as T }
}

async function organization(name: string): Promise<{ keys: string[] }> {
  const made = await ask<{ first_key?: string }>(service.key, 'POST', '/organizations', { name })
  const first = made.body.first_key
  if (made.status >= 300 || first === undefined) throw new Error(`POST /organizations: ${made.status} ${JSON.stringify(made.body)}`)
  const more = Array.from({ length: KEYS - 1 }, async (_, n) => {
    const reply = await ask<{ key: string }>(first, 'POST', '/api-keys', { name: `key ${n}`, roles: ['AdminApi'] })
    return reply.body.key
  })
  return { keys: [first, ...(await Promise.all(more))] }
}

function linesOf(count: number, from: number): string {
  return Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      message: `request ${from + n} of user ${(from + n) % 5_000} took ${(n * 7) % 900} ms`,
      level: n % 9 === 0 ? 'error' : 'info',
      ms: n % 900,
    }),
  ).join('\n')
}

async function fill(key: string): Promise<void> {
  for (let from = 0; from < EVENTS; from += BODY_LINES) {
    const reply = await ask(key, 'POST', '/ingest', linesOf(BODY_LINES, from), 'application/x-ndjson')
    if (reply.status !== 200) throw new Error(`POST /ingest: ${reply.status}`)
  }
}

/** Groups all events by a key of many values, as a badly built dashboard does. */
function heavy() {
  return {
    ...range(),
    from_expr: '*',
    select: ['count(*)', 'p95(ms)'],
    groups: ['message'],
    where: "message LIKE '%7%'",
    limit: 10,
  }
}
function light() {
  return { ...range(), from_expr: '*', select: ['count(*)'], where: "level = 'error'" }
}
function range() {
  return { from_ts: Date.now() - 86_400_000, to_ts: Date.now() }
}

async function phase(quietKeys: readonly string[], busyKeys: readonly string[]) {
  const untilMs = performance.now() + SECONDS * 1_000
  const measured = (): Measured => ({ ms: [], statuses: new Map() })
  const [quiet, busy, ingestion] = [measured(), measured(), measured()]
  const repeat = async (into: Measured, work: () => Promise<{ status: number }>): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedMs = performance.now()
      const { status } = await work()
      into.ms.push(performance.now() - startedMs)
      into.statuses.set(status, (into.statuses.get(status) ?? 0) + 1)
      await new Promise((resume) => setTimeout(resume, PAUSE_MS))
    }
  }
  const key = quietKeys[0] ?? ''
  await Promise.all([
    repeat(quiet, () => ask(key, 'POST', '/search', light())),
    repeat(ingestion, () => ask(key, 'POST', '/ingest', linesOf(100, 0), 'application/x-ndjson')),
    ...Array.from({ length: busyKeys.length === 0 ? 0 : QUERIES }, (_, n) =>
      repeat(busy, () => ask(busyKeys[n % busyKeys.length] ?? '', 'POST', '/search', heavy())),
    ),
  ])
  return { quiet, busy, ingestion }
}

function p95({ ms }: Measured): number {
  const sorted = ms.toSorted((one, other) => one - other)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.NaN)
}

function shown({ statuses }: Measured): string {
  return [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
}
