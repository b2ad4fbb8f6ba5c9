import { setTimeout } from 'node:timers/promises'
import { median } from '../stand/service.ts'
import { cpuMsBetween, threadCpuOf } from '../stand/thread-cpu.ts'

export type Timed = { ms: number; cpuMs: number }

/** The time for the work that a reply leaves behind, whose CPU time counts for the request. */
const SETTLED_MS = 10

/** Measures a request, with the CPU time of a server and its child processes. */
export async function timed(pid: number, work: () => Promise<unknown>): Promise<Timed> {
  const before = threadCpuOf(pid)
  const startedMs = performance.now()
  await work()
  const ms = performance.now() - startedMs
  await setTimeout(SETTLED_MS)
  return { ms, cpuMs: cpuMsBetween(before, threadCpuOf(pid)) }
}

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
export const medianMs = (times: readonly Pick<Timed, 'ms'>[]): number => median(times.map(({ ms }) => ms))
export const meanCpuMs = (times: readonly Pick<Timed, 'cpuMs'>[]): number => mean(times.map(({ cpuMs }) => cpuMs))

/** The smallest time that this share of the times does not exceed. */
export function percentileMs(times: readonly Pick<Timed, 'ms'>[], share: number): number {
  const sorted = times.map(({ ms }) => ms).sort((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
}
