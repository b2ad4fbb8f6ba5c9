import { readdirSync } from 'node:fs'
import { familyOf, readProc } from './process-tree.ts'

/** The CPU time of each thread in nanoseconds. */
export type ThreadCpu = ReadonlyMap<string, number>

/**
 * Reads the CPU time of all threads of a process and its descendants. The times of processes count in steps of 10 ms, which is more than some queries
 * take.
 */
export function threadCpuOf(pid: number): ThreadCpu {
  const threads = new Map<string, number>()
  for (const member of familyOf(pid)) for (const thread of threadsOf(member)) threads.set(thread, nanosecondsOf(member, thread))
  return threads
}

/** The CPU time between two readings in milliseconds. A thread that ended meanwhile loses what it used since the first. */
export function cpuMsBetween(before: ThreadCpu, after: ThreadCpu): number {
  let nanoseconds = 0
  for (const [thread, now] of after) nanoseconds += now - (before.get(thread) ?? 0)
  return nanoseconds / 1e6
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

const nanosecondsOf = (pid: number, thread: string): number => Number(readProc(pid, `task/${thread}/schedstat`).split(' ')[0] ?? 0)
