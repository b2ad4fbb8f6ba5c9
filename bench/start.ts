import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { residentOf } from './process-tree.ts'
import { median, newDataDir, printTable, removeDataDir, startService } from './service.ts'

/**
 * From spawn to healthy, first and later starts, as a ratio to the same Node loading the same packages and nothing else; idle memory of all
 * processes; time to stop. node bench/start.ts [rounds]
 */
const [rounds = 5] = process.argv.slice(2).map(Number)
const IDLE_MS = 3_000

const first: number[] = []
const cold: number[] = []
const warm: number[] = []
const stops: number[] = []
const peers: number[] = []
let resident: { name: string; mb: number }[] = []
let hasDropped = true

for (let round = 0; round < rounds; round += 1) {
  const dataDir = await newDataDir()
  peers.push(loadPackages())
  first.push(await timed(dataDir))
  warm.push(await timed(dataDir))
  hasDropped &&= dropPageCache()
  if (hasDropped) cold.push(await timed(dataDir))
  await removeDataDir(dataDir)
}

process.stdout.write(`node bench/start.ts ${rounds}\n\n`)
const peer = median(peers)
const row = (what: string, values: readonly number[]) => [what, median(values).toFixed(0), (median(values) / peer).toFixed(1)]
printTable(
  ['start', 'ms', 'ratio to loading the packages'],
  [
    row('loading the packages alone', peers),
    row('first start (stores made)', first),
    row('later start, warm', warm),
    ...(hasDropped ? [row('later start, page cache dropped', cold)] : []),
    row('stop', stops),
  ],
)
process.stdout.write('\n')
const total = resident.reduce((sum, { mb }) => sum + mb, 0)
printTable(['process, idle', 'MB (Pss)'], [...resident.map(({ name, mb }) => [name, mb.toFixed(0)]), ['all', total.toFixed(0)]])

async function timed(dataDir: string): Promise<number> {
  const service = await startService(dataDir)
  await new Promise((done) => setTimeout(done, IDLE_MS))
  resident = residentOf(service.pid)
  stops.push(await service.stop())
  return service.healthyMs
}

function loadPackages(): number {
  const startedMs = performance.now()
  spawnSync(process.execPath, [
    '-e',
    "await Promise.all(['fastify','pg','zod','kysely','pino','@clickhouse/client','jose'].map((name) => import(name)))",
  ])
  return performance.now() - startedMs
}

/** dropPageCache empties the kernel's file cache where that is allowed (root), so that the next start reads from the disk. */
function dropPageCache(): boolean {
  try {
    spawnSync('sync')
    writeFileSync('/proc/sys/vm/drop_caches', '3')
    return true
  } catch {
    return false
  }
}
