import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { freePort, median, newDataDir, printTable, removeDataDir, startService, untilOk } from './service.ts'

/**
 * Requests per second of authenticated reads, as a ratio to a bare Fastify handler that answers the same bytes, taken in turn in one run.
 * node bench/http.ts [rounds] [seconds] [connections]
 */
const [rounds = 5, seconds = 3, connections = 64] = process.argv.slice(2).map(Number)
const RECORDS = 20
const WARM_S = 2

type Figures = { perSecond: number; p99Ms: number }

const dataDir = await newDataDir()
const service = await startService(dataDir)
try {
  await fill()
  const rows = []
  for (const path of ['/datasets', '/api-keys']) rows.push(await compare(path))
  process.stdout.write(`node bench/http.ts ${rounds} ${seconds} ${connections}\n\n`)
  printTable(['read', 'ours /s', 'bare /s', 'ratio', 'ours p99 ms', 'bare p99 ms', 'answer bytes'], rows)
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
  try {
    await untilOk(`http://127.0.0.1:${port}/health`, bare)
    const ours: Figures[] = []
    const theirs: Figures[] = []
    await load(service.url + path, WARM_S)
    await load(`http://127.0.0.1:${port}/`, WARM_S)
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await load(service.url + path, seconds))
      theirs.push(await load(`http://127.0.0.1:${port}/`, seconds))
    }
    const ratio = median(ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN)))
    return [
      `GET ${path}`,
      median(ours.map((figures) => figures.perSecond)).toFixed(0),
      median(theirs.map((figures) => figures.perSecond)).toFixed(0),
      ratio.toFixed(2),
      median(ours.map((figures) => figures.p99Ms)).toFixed(1),
      median(theirs.map((figures) => figures.p99Ms)).toFixed(1),
      String(Buffer.byteLength(body)),
    ]
  } finally {
    bare.kill()
  }
}

async function load(url: string, duration: number): Promise<Figures> {
  const result = await autocannon({ url, connections, duration, headers: { 'x-service-api-key': service.key } })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} refusals and ${result.errors} errors under load`)
  return { perSecond: result.requests.average, p99Ms: result.latency.p99 }
}
