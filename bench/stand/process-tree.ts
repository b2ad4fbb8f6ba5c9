import { readdirSync, readFileSync } from 'node:fs'

export type Resident = { name: string; mb: number }

/** Lists a process and its descendants with their private and proportionally shared memory (Pss), in MB. */
export const residentOf = (pid: number): Resident[] => familyOf(pid).map((member) => ({ name: nameOf(member), mb: pssMb(member) }))

/** The script of a Node process, otherwise the program; processes of one server share a name. */
function nameOf(pid: number): string {
  const words = readProc(pid, 'cmdline').split('\0')
  const shown = words.find((word) => /\.[jt]s$/.test(word)) ?? words[0]?.split(':')[0] ?? ''
  return shown.slice(shown.lastIndexOf('/') + 1)
}

/** The most memory that was resident for one process at a time, in MB. Shared pages count in full. */
export const peakMbOf = (pid: number): number => Number(/^VmHWM:\s+(\d+)/m.exec(readProc(pid, 'status'))?.[1] ?? 0) / 1_000

const TICKS_PER_S = 100
/** STAT_TIMES are user and system time of a process and of its children that have ended, counted from the field after its name. */
const STAT_TIMES = [11, 12, 13, 14]

export type CpuSeconds = { total: number; byName: ReadonlyMap<string, number> }

/** The CPU time of one process with all its threads. */
export const ownCpuUs = (pid: number): number => secondsOf(pid, STAT_TIMES.slice(0, 2)) * 1e6

function secondsOf(pid: number, times: readonly number[]): number {
  const stat = readProc(pid, 'stat')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return times.reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) / TICKS_PER_S
}

/** The CPU time of a process and its descendants, including ended ones. */
export function cpuSecondsOf(pid: number): CpuSeconds {
  const byName = new Map<string, number>()
  let total = 0
  for (const member of familyOf(pid)) {
    const seconds = secondsOf(member, STAT_TIMES)
    const name = nameOf(member)
    byName.set(name, (byName.get(name) ?? 0) + seconds)
    total += seconds
  }
  return { total, byName }
}

/** The bytes that a process and its descendants wrote to files. */
export const writtenBytesOf = (pid: number): number => familyOf(pid).reduce((sum, member) => sum + fileBytes(readProc(member, 'io')), 0)

/**
 * The system counts whole pieces of cached files as written, of up to 2 MB, for each small write that is synced; a process never writes more than
 * it passed to calls, which include those to sockets.
 */
function fileBytes(io: string): number {
  const counted = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1] ?? 0)
  return Math.min(counted('wchar'), counted('write_bytes'))
}

const SAMPLE_MS = 500

/** Samples the memory of a process and its descendants until the returned function is called, which returns the peak. */
export function watchMemory(pid: number): () => { peakMb: number; peaks: ReadonlyMap<string, number> } {
  let peakMb = 0
  const peaks = new Map<string, number>()
  const timer = setInterval(() => {
    const now = new Map<string, number>()
    for (const { name, mb } of residentOf(pid)) now.set(name, (now.get(name) ?? 0) + mb)
    for (const [name, mb] of now) peaks.set(name, Math.max(peaks.get(name) ?? 0, mb))
    peakMb = Math.max(
      peakMb,
      now.values().reduce((sum, mb) => sum + mb, 0),
    )
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return { peakMb, peaks }
  }
}

const POLL_MS = 1_000
/** The share of a core that idle processes may use. */
const QUIET_SHARE = 0.08
/** Longer than any measured system keeps events in memory. */
const QUIET_MS = 6_000
const QUIET_BOUND_MS = 300_000

export type Quiet = { cpu: CpuSeconds; waitedMs: number; isQuiet: boolean }

/** Waits until background work such as merges is done, and returns the CPU time just before the idle period. */
export async function untilQuiet(pid: number): Promise<Quiet> {
  const startedMs = performance.now()
  let [quietSinceMs, lastMs] = [startedMs, startedMs]
  let cpu = cpuSecondsOf(pid)
  let last = cpu
  while (performance.now() - startedMs < QUIET_BOUND_MS) {
    await new Promise((done) => setTimeout(done, POLL_MS))
    const [nowMs, now] = [performance.now(), cpuSecondsOf(pid)]
    if ((now.total - last.total) / ((nowMs - lastMs) / 1_000) > QUIET_SHARE) [quietSinceMs, cpu] = [nowMs, now]
    if (nowMs - quietSinceMs >= QUIET_MS) return { cpu, waitedMs: quietSinceMs - startedMs, isQuiet: true }
    ;[lastMs, last] = [nowMs, now]
  }
  return { cpu: last, waitedMs: performance.now() - startedMs, isQuiet: false }
}

/** A process and its descendants. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const parent = /^PPid:\s+(\d+)/m.exec(readProc(Number(entry), 'status'))?.[1]
    if (parent) parents.set(Number(entry), Number(parent))
  }
  const family = [pid]
  for (let i = 0; i < family.length; i += 1) for (const [child, parent] of parents) if (parent === family[i]) family.push(child)
  return family
}

const pssMb = (pid: number): number => Number(/^Pss:\s+(\d+)/m.exec(readProc(pid, 'smaps_rollup'))?.[1] ?? 0) / 1024

/** Empty when the process has ended. */
export function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
