import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { cpuSecondsOf, untilQuiet, watchMemory, writtenBytesOf } from '../stand/process-tree.ts'
import { newDataDir, removeDataDir } from '../stand/service.ts'
import type { DataFile } from './data.ts'
import type { Ack, SendFile, SendSmall, Sent, SentSmall } from './load.ts'
import type { Lag, Running, System } from './systems.ts'

/** BODY_BYTES stays below the 10 MiB that a body may have. */
const BODY_BYTES = 8 * 2 ** 20
/** WARM_BODIES are sent before the clock starts, so that a short run does not measure how programs get going. */
const WARM_BODIES = 2
const LINES_MAX = 100
const WARM_MS = 2_000

/** Taken is one file taken in by one system that was started for it on an empty directory. Bytes are those of the lines, not of their wrapping. */
export type Taken = {
  mbPerS: number
  linesPerS: number
  cpuSPerGb: number
  cpuByName: ReadonlyMap<string, number>
  peakMb: number
  peaks: ReadonlyMap<string, number>
  /** idleBytes is the size on disk when idle, mergedBytes after a forced merge. */
  idleBytes: number
  mergedBytes: number
  /** The bytes written to files until idle, as a ratio to idleBytes. */
  writes: number
  /** The CPU time for the indexes of words, which the system builds once the events have settled. It is not part of cpuSPerGb. */
  lateCpuSPerGb: number
  settledS: number
  isQuiet: boolean
  trend: number
  lag: Lag | undefined
}

export async function takeFile(system: System, data: DataFile, connections: number): Promise<Taken> {
  return inFreshDir(system, async (running) => {
    const stopWatching = watchMemory(running.pid)
    const writtenBefore = writtenBytesOf(running.pid)
    const target = { ...running.target(data), kind: 'file' as const, bodyBytes: BODY_BYTES, isFramed: data.kind === 'otlp' }
    const warm = await send<Sent>({ ...target, fromByte: 0, bytesMax: WARM_BODIES * BODY_BYTES - 1, connections: 1 })
    const cpuBefore = cpuSecondsOf(running.pid)
    const watching = await running.lag?.()
    const sent = await send<Sent>({ ...target, fromByte: warm.nextByte, bytesMax: Number.MAX_SAFE_INTEGER, connections })
    const lag = await watching?.()
    const quiet = await untilQuiet(running.pid)
    const { peakMb, peaks } = stopWatching()
    const idleBytes = await running.diskBytes()
    const writes = (writtenBytesOf(running.pid) - writtenBefore) / idleBytes
    const { rows, mergedBytes, lateCpuS } = await running.end()
    if (rows > data.lines || (rows < data.lines && !system.leavesOut))
      throw new Error(`${system.name} holds ${rows} events of ${data.kind}, and ${data.lines} were acknowledged`)
    const bytes = (sent.lines / data.lines) * data.bytes
    return {
      mbPerS: bytes / 1e3 / sent.wallMs,
      linesPerS: (sent.lines / sent.wallMs) * 1e3,
      cpuSPerGb: (quiet.cpu.total - cpuBefore.total) / (bytes / 1e9),
      cpuByName: new Map(
        [...quiet.cpu.byName].map(([name, seconds]) => [name, (seconds - (cpuBefore.byName.get(name) ?? 0)) / (bytes / 1e9)]),
      ),
      peakMb,
      peaks,
      idleBytes,
      mergedBytes,
      writes,
      lateCpuSPerGb: lateCpuS / (data.bytes / 1e9),
      settledS: quiet.waitedMs / 1e3,
      isQuiet: quiet.isQuiet,
      trend: trendOf(sent.acks),
      lag: lag?.(),
    }
  })
}

/** The rate of the last third of a run as a ratio to that of the first third. */
function trendOf(acks: readonly Ack[]): number {
  const third = Math.floor(acks.length / 3)
  if (third < 2) return Number.NaN
  const rate = (from: number, to: number) =>
    acks.slice(from + 1, to + 1).reduce((sum, { lines }) => sum + lines, 0) / ((acks[to]?.atMs ?? 0) - (acks[from]?.atMs ?? 0))
  return rate(acks.length - 1 - third, acks.length - 1) / rate(0, third)
}

export type TakenSmall = SentSmall & { peakMb: number; cpuUs: number; lag: Lag | undefined }

/** Lets many writers send few lines at a time, each waiting for its response. */
export async function takeSmall(system: System, data: DataFile, writers: number, seconds: number): Promise<TakenSmall> {
  return inFreshDir(system, async (running) => {
    const stopWatching = watchMemory(running.pid)
    const target = running.target(data)
    const warm = await send<Sent>({
      ...target,
      kind: 'file',
      bodyBytes: BODY_BYTES,
      isFramed: false,
      fromByte: 0,
      bytesMax: 1,
      connections: 1,
    })
    const cpuBefore = cpuSecondsOf(running.pid)
    const writing = { kind: 'small' as const, writers, linesMax: LINES_MAX, warmMs: WARM_MS, measuredMs: seconds * 1e3 }
    const watching = await running.lag?.()
    const sent = await send<SentSmall>({ ...target, ...writing })
    const lag = await watching?.()
    const { cpu } = await untilQuiet(running.pid)
    const { peakMb } = stopWatching()
    const { rows } = await running.end()
    const lines = warm.lines + sent.lines
    if (rows !== lines) throw new Error(`${system.name} holds ${rows} events of small posts, and ${lines} were acknowledged`)
    return { ...sent, peakMb, lag: lag?.(), cpuUs: ((cpu.total - cpuBefore.total) * 1e6) / sent.lines }
  })
}

async function inFreshDir<T>(system: System, work: (running: Running) => Promise<T>): Promise<T> {
  const dir = await newDataDir()
  const running = await system.start(dir)
  try {
    return await work(running)
  } catch (cause) {
    await running.kill()
    throw cause
  } finally {
    await removeDataDir(dir)
  }
}

async function send<Result>(job: SendFile | SendSmall): Promise<Result> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load.ts'), JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const said = await text(child.stdout)
  const [status] = await exit
  if (status !== 0) throw new Error(`the senders left with status ${status}`)
  return JSON.parse(said) as Result
}
