import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { ownCpuUs } from './stand/process-tree.ts'
import { freePort, median, newDataDir, printTable, removeDataDir, startService, untilOk } from './stand/service.ts'

/**
 * Requests per second of authenticated reads, as a ratio to a bare Fastify handler that answers the same bytes, taken in turn in one run.
 * The time on the processor for each request says more than the rate where the load generator, or other work, has its share of the machine.
 * node bench/http.ts [rounds] [seconds] [connections]
 */
const [rounds = 5, seconds = 3, connections = 64] = process.argv.slice(2).map(Number)
const RECORDS = 20
const WARM_S = 2

type Figures = { perSecond: number; p99Ms: number; cpuUs: number }

const dataDir = await newDataDir()
const service = await startService(dataDir)
try {
  await fill()
  const rows = []
  for (const path of ['/datasets', '/api-keys']) rows.push(await compare(path))
  process.stdout.write(`node bench/http.ts ${rounds} ${seconds} ${connections}\n\n`)
  printTable(
    ['read', 'ours /s', 'bare /s', 'ratio', 'ours p99 ms', 'bare p99 ms', 'ours CPU µs', 'bare CPU µs', 'ratio', 'answer bytes'],
    rows,
  )
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}

async function fill(): Promise<void> {
  const headers = { 'x-service-api-key': service.key, 'content-type': 'application/json' }
  for (let n = 0; n < RECORDS; n += 1) {
    await fetch(`${service.url}/datasets`, { method: 'POST', headers, body: JSON.stringify({ collection: 'bench', dataset: `set-${n}` }) })
    await fetch(`${service.url}/api-keys`, { method: 'POST', headers, body: JSON.stringify({ name: `key ${n}`, roles: ['SearchApi'] }) })
  }
}

async function compare(path: string): Promise<string[]> {
  const answer = await fetch(service.url + path, { headers: { 'x-service-api-key': service.key } })
  const body = await answer.text()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${body}`)
  const file = join(dataDir, 'answer.json')
  writeFileSync(file, body)
  const port = await freePort()
  const bare = spawn(process.execPath, [join(import.meta.dirname, 'bare.ts'), String(port), file], { stdio: 'inherit' })
  const sides = [
    { pid: service.pid, url: service.url + path, figures: [] as Figures[] },
    { pid: bare.pid ?? 0, url: `http://127.0.0.1:${port}/`, figures: [] as Figures[] },
  ] as const
  try {
    await untilOk(`http://127.0.0.1:${port}/health`, bare)
    for (const side of sides) await load(side.pid, side.url, WARM_S)
    for (let round = 0; round < rounds; round += 1) for (const side of sides) side.figures.push(await load(side.pid, side.url, seconds))
  } finally {
    bare.kill()
  }
  const [ours, theirs] = sides.map(({ figures }) => figures) as [Figures[], Figures[]]
  const both = (read: (figures: Figures) => number, digits: number) => [ours, theirs].map((side) => median(side.map(read)).toFixed(digits))
  const ratio = (read: (figures: Figures, other: Figures) => number) =>
    median(ours.map((figures, round) => read(figures, theirs[round] ?? figures))).toFixed(2)
  return [
    `GET ${path}`,
    ...both((figures) => figures.perSecond, 0),
    ratio((mine, peer) => mine.perSecond / peer.perSecond),
    ...both((figures) => figures.p99Ms, 1),
    ...both((figures) => figures.cpuUs, 1),
    ratio((mine, peer) => peer.cpuUs / mine.cpuUs),
    String(Buffer.byteLength(body)),
  ]
}

async function load(pid: number, url: string, duration: number): Promise<Figures> {
  const before = ownCpuUs(pid)
  const result = await autocannon({ url, connections, duration, headers: { 'x-service-api-key': service.key } })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} refusals and ${result.errors} errors under load`)
  return {
    perSecond: result.requests.average,
    p99Ms: result.latency.p99,
    cpuUs: (ownCpuUs(pid) - before) / result.requests.total,
  }
}
