import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into the service before its program, it records the CPU time of each event loop turn: unlike the delay in the metrics, that does not depend
 * on other load of the machine. When the service exits, the data is in a file.
 */
export const recordDelaysInto = (file: string): Record<string, string> => ({
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${import.meta.filename}`,
  [FILE_VARIABLE]: file,
})

/** longestTurn is the 99th percentile of the turns between two moments, in ms on the processor. */
export function longestDelayMs(file: string, fromMs: number, untilMs: number): number {
  const delays = (JSON.parse(readFileSync(file, 'utf8')) as LoopDelay[]).filter(([atMs]) => atMs >= fromMs && atMs <= untilMs)
  const sorted = delays.map(([, tookMs]) => tookMs).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}

type LoopDelay = readonly [atMs: number, tookMs: number]

/** Not a setting: the service warns of unknown names that begin like one, and stores the warning as an event. */
const FILE_VARIABLE = 'BENCH_TURNS_FILE'
const TICK_MS = 10

const file = process.env[FILE_VARIABLE]
if (isMainThread && file && process.argv.some((word) => word.endsWith('server/src/main.ts'))) watch(file)

function watch(path: string): void {
  const delays: LoopDelay[] = []
  let last = usedMs()
  setInterval(() => {
    const now = usedMs()
    delays.push([Date.now(), now - last])
    last = now
  }, TICK_MS).unref()
  process.on('exit', () => writeFileSync(path, JSON.stringify(delays)))
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
