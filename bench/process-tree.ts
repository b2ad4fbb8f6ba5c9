import { readdirSync, readFileSync } from 'node:fs'

type Resident = { name: string; mb: number }

/** residentOf lists a process and everything below it with the memory each holds alone or shares fairly (Pss), in MB. */
export function residentOf(pid: number): Resident[] {
  return familyOf(pid).map((member) => ({
    name: readProc(member, 'cmdline')
      .split('\0')
      .slice(0, 2)
      .map((part) => part.split('/').pop())
      .join(' '),
    mb: pssMb(member),
  }))
}

const TICKS_PER_S = 100
/** STAT_TIMES are user and system time of a process and of its children that have ended, counted from the field after its name. */
const STAT_TIMES = [11, 12, 13, 14]

/** cpuSecondsOf is the time on the processor of a process and everything below it, also of what has ended meanwhile. */
export function cpuSecondsOf(pid: number): number {
  let ticks = 0
  for (const member of familyOf(pid)) {
    const stat = readProc(member, 'stat')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    for (const at of STAT_TIMES) ticks += Number(fields[at] ?? 0)
  }
  return ticks / TICKS_PER_S
}

const SAMPLE_MS = 500

/** watchMemory samples the memory of a process and everything below it until the function it gives back is called, which says the most there was. */
export function watchMemory(pid: number): () => { peakMb: number; peaks: ReadonlyMap<string, number> } {
  let peakMb = 0
  const peaks = new Map<string, number>()
  const timer = setInterval(() => {
    let allMb = 0
    for (const { name, mb } of residentOf(pid)) {
      allMb += mb
      peaks.set(name, Math.max(peaks.get(name) ?? 0, mb))
    }
    peakMb = Math.max(peakMb, allMb)
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return { peakMb, peaks }
  }
}

const LOOK_MS = 1_000
/** QUIET_SHARE of a core is what idle processes may use. */
const QUIET_SHARE = 0.08
/** QUIET_MS is longer than any of the systems measured keeps events in memory. */
const QUIET_MS = 6_000
const QUIET_BOUND_MS = 300_000

/** untilQuiet waits until merges and whatever else goes on in the background are done, and gives the time on the processor just before the quiet. */
export async function untilQuiet(pid: number): Promise<{ cpuS: number; waitedMs: number; isQuiet: boolean }> {
  const startedMs = performance.now()
  let quietSinceMs = startedMs
  let cpuAtQuiet = cpuSecondsOf(pid)
  let lastCpu = cpuAtQuiet
  let lastMs = startedMs
  while (performance.now() - startedMs < QUIET_BOUND_MS) {
    await new Promise((done) => setTimeout(done, LOOK_MS))
    const [nowMs, cpu] = [performance.now(), cpuSecondsOf(pid)]
    if ((cpu - lastCpu) / ((nowMs - lastMs) / 1_000) > QUIET_SHARE) [quietSinceMs, cpuAtQuiet] = [nowMs, cpu]
    if (nowMs - quietSinceMs >= QUIET_MS) return { cpuS: cpuAtQuiet, waitedMs: quietSinceMs - startedMs, isQuiet: true }
    ;[lastMs, lastCpu] = [nowMs, cpu]
  }
  return { cpuS: cpuSecondsOf(pid), waitedMs: performance.now() - startedMs, isQuiet: false }
}

/** familyOf is a process and everything below it. */
function familyOf(pid: number): number[] {
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

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
