import { readdirSync, readFileSync } from 'node:fs'

const SAMPLE_MS = 100

/** The memory of a process and its descendants, with shared pages counted once, in MB. */
export const memoryMbOf = (pid: number): number => familyOf(pid).reduce((sum, member) => sum + heldMb(member), 0)

/** The peak memory of a process and its descendants during some work. */
export async function peakMbDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  let peakMb = memoryMbOf(pid)
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, memoryMbOf(pid))
  }, SAMPLE_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return Math.max(peakMb, memoryMbOf(pid))
}

function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ member: Number(name), parent: Number(/^PPid:\s+(\d+)/m.exec(read(name, 'status'))?.[1]) }))
  const family = [pid]
  for (let at = 0; at < family.length; at += 1) {
    family.push(...parents.filter(({ parent }) => parent === family[at]).map(({ member }) => member))
  }
  return family
}

const heldMb = (pid: number): number => Number(/^Pss:\s+(\d+)/m.exec(read(pid, 'smaps_rollup'))?.[1] ?? 0) / 1_024

/** 0 for a process that has just exited. */
function read(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
