import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into the service before its program, it notes how much time on the processor each turn of the event loop takes: unlike the delay that the
 * service tells of, that does not change with what else runs on the machine. When the service leaves, all of it is in a file.
 */
export const turnsInto = (file: string): Record<string, string> => ({
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${import.meta.filename}`,
  [FILE_VARIABLE]: file,
})

/** longestTurn is the 99th percentile of the turns between two moments, in ms on the processor. */
export function longestTurn(file: string, fromMs: number, untilMs: number): number {
  const turns = (JSON.parse(readFileSync(file, 'utf8')) as Turn[]).filter(([atMs]) => atMs >= fromMs && atMs <= untilMs)
  const sorted = turns.map(([, tookMs]) => tookMs).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}

type Turn = readonly [atMs: number, tookMs: number]

/** Not a setting: the service warns of unknown names that begin like one, and stores the warning as an event. */
const FILE_VARIABLE = 'BENCH_TURNS_FILE'
const LOOK_MS = 10

const file = process.env[FILE_VARIABLE]
if (isMainThread && file && process.argv.some((word) => word.endsWith('server/src/main.ts'))) watch(file)

function watch(path: string): void {
  const turns: Turn[] = []
  let last = usedMs()
  setInterval(() => {
    const now = usedMs()
    turns.push([Date.now(), now - last])
    last = now
  }, LOOK_MS).unref()
  process.on('exit', () => writeFileSync(path, JSON.stringify(turns)))
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
