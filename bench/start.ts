import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { type Resident, residentOf, untilQuiet } from './stand/process-tree.ts'
import { median, newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'

/**
 * From spawn to healthy, first and later starts, as a ratio to the same Node loading the same packages and nothing else; idle memory of all
 * processes; time to stop; and all that once more with events in the store. node bench/start.ts [rounds] [events]
 */
const [rounds = 5, events = 1_000_000] = process.argv.slice(2).map(Number)
const IDLE_MS = 3_000
const BODY_EVENTS = 5_000

type Starts = { first: number[]; warm: number[]; cold: number[]; stops: number[]; resident: Resident[] }
const newStarts = (): Starts => ({ first: [], warm: [], cold: [], stops: [], resident: [] })

const peers: number[] = []
const empty = newStarts()
for (let round = 0; round < rounds; round += 1) {
  const dataDir = await newDataDir()
  peers.push(loadPackages())
  empty.first.push(await timed(dataDir, empty))
  await againAndAgain(dataDir, empty)
  await removeDataDir(dataDir)
}
const full = newStarts()
const fullDir = await newDataDir()
await fill(fullDir)
for (let round = 0; round < rounds; round += 1) await againAndAgain(fullDir, full)
await removeDataDir(fullDir)

process.stdout.write(`node bench/start.ts ${rounds} ${events}\n\n`)
const peer = median(peers)
const row = (what: string, values: readonly number[]) =>
  values.length === 0 ? [] : [[what, median(values).toFixed(0), (median(values) / peer).toFixed(1)]]
printTable(
  ['start', 'ms', 'ratio to loading the packages'],
  [
    ...row('loading the packages alone', peers),
    ...row('first start (stores made)', empty.first),
    ...row('later start, warm', empty.warm),
    ...row('later start, page cache dropped', empty.cold),
    ...row('stop', empty.stops),
    ...row(`start with ${events} events, warm`, full.warm),
    ...row(`start with ${events} events, page cache dropped`, full.cold),
    ...row(`stop with ${events} events`, full.stops),
  ],
)
process.stdout.write('\n')
const names = [...new Set([...empty.resident, ...full.resident].map(({ name }) => name))]
const mbOf = (resident: readonly Resident[], among: readonly string[]) =>
  resident
    .filter(({ name }) => among.includes(name))
    .reduce((sum, { mb }) => sum + mb, 0)
    .toFixed(0)
printTable(
  ['processes, idle', 'MB (Pss), empty', `MB (Pss), ${events} events`],
  [
    ...names.map((name) => [name, mbOf(empty.resident, [name]), mbOf(full.resident, [name])]),
    ['all', mbOf(empty.resident, names), mbOf(full.resident, names)],
  ],
)

async function againAndAgain(dataDir: string, starts: Starts): Promise<void> {
  starts.warm.push(await timed(dataDir, starts))
  if (dropPageCache()) starts.cold.push(await timed(dataDir, starts))
}

async function timed(dataDir: string, starts: Starts): Promise<number> {
  const service = await startService(dataDir)
  await new Promise((done) => setTimeout(done, IDLE_MS))
  starts.resident = residentOf(service.pid)
  starts.stops.push(await service.stop())
  return service.healthyMs
}

/** Sends the events and waits for the immediate merges. */
async function fill(dataDir: string): Promise<void> {
  const service = await startService(dataDir)
  const headers = { 'x-service-api-key': service.key, 'x-service-dataset': 'bench', 'content-type': 'application/x-ndjson' }
  const startMs = Date.now() - events
  try {
    for (let n = 0; n < events; n += BODY_EVENTS) {
      const body = Array.from({ length: Math.min(BODY_EVENTS, events - n) }, (_, at) => eventOf(n + at, startMs)).join('\n')
      const answer = await fetch(`${service.url}/ingest`, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(`the events were not taken: ${answer.status} ${await answer.text()}`)
    }
    await untilQuiet(service.pid)
  } finally {
    await service.stop()
  }
}

function eventOf(n: number, startMs: number): string {
  return JSON.stringify({
    time: new Date(startMs + n).toISOString(),
    level: n % 50 === 0 ? 'error' : 'info',
    message: `request ${n} of user ${n % 1_000} took ${n % 977} ms`,
    path: `/shop/${n % 40}`,
    status: n % 50 === 0 ? 500 : 200,
    trace: `${n}`.padStart(32, '0'),
  })
}

function loadPackages(): number {
  const startedMs = performance.now()
  spawnSync(process.execPath, [
    '-e',
    "await Promise.all(['fastify','pg','zod','kysely','pino','@clickhouse/client','jose'].map((name) => import(name)))",
  ])
  return performance.now() - startedMs
}

/** Empties the kernel's file cache if permitted (root), so that the next start reads from disk. */
function dropPageCache(): boolean {
  try {
    spawnSync('sync')
    writeFileSync('/proc/sys/vm/drop_caches', '3')
    return true
  } catch {
    return false
  }
}
