import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/**
 * This module is preloaded into the service and records the CPU time of each event loop iteration. Unlike the delay in the metrics, that does not depend
 * on other load of the machine. When the service exits, it writes the data to a file.
 */
export const recordDelaysInto = (file: string): Record<string, string> => ({
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${import.meta.filename}`,
  [FILE_VARIABLE]: file,
})

/** Returns the 99th percentile of the CPU time of event loop iterations in a time range. */
export function delayP99Ms(file: string, fromMs: number, untilMs: number): number {
  const sorted = delaysBetween(file, fromMs, untilMs).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}

/** Returns the longest CPU time of an event loop iteration in a time range, or without some longer ones. */
export const longDelayMs = (file: string, fromMs: number, untilMs: number, without = 0): number =>
  delaysBetween(file, fromMs, untilMs).sort((a, b) => b - a)[without] ?? Number.NaN

const delaysBetween = (file: string, fromMs: number, untilMs: number): number[] =>
  (JSON.parse(readFileSync(file, 'utf8')) as LoopDelay[])
    .filter(([atMs]) => atMs >= fromMs && atMs <= untilMs + TICK_MS)
    .map(([, cpuMs]) => cpuMs)

type LoopDelay = readonly [atMs: number, cpuMs: number]

/** Has no prefix of settings: the service would log a warning about an unknown setting, and store it as an event. */
const FILE_VARIABLE = 'BENCH_TURNS_FILE'
const TICK_MS = 10

const file = process.env[FILE_VARIABLE]
if (isMainThread && file && process.argv.some((word) => word.endsWith('server/src/main.ts'))) watch(file)

function watch(path: string): void {
  const delays: LoopDelay[] = []
  let last = cpuTimeMs()
  setInterval(() => {
    const now = cpuTimeMs()
    delays.push([Date.now(), now - last])
    last = now
  }, TICK_MS).unref()
  process.on('exit', () => writeFileSync(path, JSON.stringify(delays)))
}

function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
