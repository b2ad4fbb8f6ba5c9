import { type ChildProcess, fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { BrokenContent, type SourceContent, sequentialContent } from '../sources/content.ts'
import type { FromParquetProcess, ToParquetProcess } from './parquet-process.ts'

/** A file with an encrypted footer begins and ends with the second one. */
const MAGICS: ReadonlySet<string> = new Set(['PAR1', 'PARE'])
/** How much of a file shows what it is. */
export const HEAD_BYTES = 8

/** Whether a file begins as Parquet does. A line of text may begin with the same four letters, but not with the bytes after them. */
export const isParquet = (head: Uint8Array): boolean =>
  MAGICS.has(textOf(head.subarray(0, 4))) && (head.length === 4 || head.subarray(4, HEAD_BYTES).some(isNoText))

const isNoText = (byte: number): boolean => byte < 0x20 && ![0x09, 0x0a, 0x0d].includes(byte)
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** Why a file is refused that its name calls Parquet: its bytes are not, and make no lines. Undefined for any other file. */
export const wrongName = (name: string, head: Uint8Array): BrokenContent | undefined =>
  name.endsWith('.parquet') && head.length > 0 && !isParquet(head)
    ? new BrokenContent('it does not begin as Parquet does, as its name says')
    : undefined

export function checkName(name: string, head: Uint8Array): void {
  const wrong = wrongName(name, head)
  if (wrong) throw wrong
}

/** Refuses a file without the end of Parquet, which is written last. */
export async function checkEnd(file: SourceContent, bytes: number): Promise<void> {
  const end = await file.read(Math.max(0, bytes - 4), 4)
  if (bytes < HEAD_BYTES || !MAGICS.has(textOf(end))) throw new BrokenContent('it ends early')
}

const MIB = 2 ** 20
/** A file that expands beyond this is refused: text compresses to a hundredth at best. */
const EXPANSION_MAX = 500
const EXPANSION_FROM_BYTES = 64 * MIB

/** Refuses a file of which more was read than its size can mean. */
export function checkExpansion(position: number, bytes: number): void {
  if (position <= EXPANSION_FROM_BYTES || position <= EXPANSION_MAX * bytes) return
  throw new BrokenContent(`it expands to more than ${EXPANSION_MAX} times its size`)
}

const HEAP_MIB = 512
const MEMORY_BYTES_MAX = 1024 * MIB
const MEMORY_EVERY_MS = 100
/** How long a part of a row group may take, without the time for its bytes to come. */
const PART_MS = 120_000

export type ParquetReading = {
  readonly signal: AbortSignal
  /** Where row groups begin in the lines, as far as it is known from an earlier reading. */
  readonly starts?: number[]
}

type ParquetOptions = ParquetReading & {
  readonly bytes: number
  readonly onBroken: (broken: BrokenContent) => void
  /** Rows of an export have their fields beside the original line. */
  readonly withFields?: boolean
}

/**
 * The rows of a Parquet file as lines of JSON objects. A process of its own reads it. Where row groups begin is remembered, so that reading goes on there
 * after `pause`, which ends the process.
 */
export function parquetContent(
  file: SourceContent,
  { bytes, onBroken, signal, starts = [0], withFields = false }: ParquetOptions,
): SourceContent {
  return sequentialContent({
    begin: async (position) => {
      const group = Math.max(
        0,
        starts.findLastIndex((start) => start <= position),
      )
      const at = starts[group] ?? 0
      return { at, parts: linesFrom(file, { bytes, group, at, starts, signal, withFields }) }
    },
    onBroken,
    close: file.close,
  })
}

type From = Required<Pick<ParquetOptions, 'bytes' | 'signal' | 'starts' | 'withFields'>> & { readonly group: number; readonly at: number }

async function* linesFrom(file: SourceContent, { bytes, group, at, starts, signal, withFields }: From): AsyncGenerator<Buffer> {
  const child = new ParquetProcess(file, signal)
  try {
    child.send({ kind: 'open', bytes, firstGroup: group, withFields })
    for (let end = at; ; ) {
      const lines = await child.next()
      if (!lines) return
      if (lines.begins !== undefined) starts[lines.begins] = end
      end += lines.bytes.length
      if (lines.bytes.length > 0) yield Buffer.from(lines.bytes)
    }
  } finally {
    child.kill()
  }
}

const STOPS: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP'])

type Lines = Extract<FromParquetProcess, { kind: 'lines' }>

/** The process that reads one file. */
class ParquetProcess {
  readonly #child: ChildProcess
  readonly #file: SourceContent
  readonly #signal: AbortSignal
  readonly #stop = (): void => this.kill()
  #isOversized = false
  /** Since when it works without having asked for bytes: waiting for a slow bucket is no fault of the file. */
  #workingSinceMs = 0
  #spawnError: unknown
  #fail: ((cause: unknown) => void) | undefined
  #resolve: ((lines: Lines | undefined) => void) | undefined

  constructor(file: SourceContent, signal: AbortSignal) {
    this.#file = file
    this.#signal = signal
    this.#child = fork(new URL('./parquet-process.ts', import.meta.url), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [`--max-old-space-size=${HEAP_MIB}`],
      env: { TZ: 'UTC' },
    })
    this.#child.on('message', (message: FromParquetProcess) => void this.#onMessage(message))
    this.#child.on('error', (cause) => {
      this.#spawnError = cause
      this.#fail?.(cause)
    })
    this.#child.on('exit', () => this.#fail?.(this.#reasonOfExit()))
    signal.addEventListener('abort', this.#stop)
    if (signal.aborted) this.kill()
  }

  send(message: ToParquetProcess): void {
    if (this.#child.connected) this.#child.send(message)
  }

  kill(): void {
    this.#signal.removeEventListener('abort', this.#stop)
    this.#child.kill('SIGKILL')
  }

  /** The next lines; undefined at the end of the file. */
  async next(): Promise<Lines | undefined> {
    const late = new AbortController()
    const watching = this.#watch(late.signal)
    try {
      return await new Promise<Lines | undefined>((resolve, reject) => {
        this.#resolve = resolve
        this.#fail = reject
        if (this.#spawnError !== undefined) reject(this.#spawnError)
        else if (this.#child.exitCode !== null || this.#child.signalCode !== null) reject(this.#reasonOfExit())
        else this.send({ kind: 'next' })
      })
    } finally {
      late.abort()
      await watching
    }
  }

  #reasonOfExit(): unknown {
    const { signalCode } = this.#child
    if (this.#signal.aborted) return this.#signal.reason
    // A stop of the service may reach the process first: that says nothing about the file.
    if (signalCode !== null && STOPS.has(signalCode)) return new Error('the process that reads a Parquet file was stopped')
    // The engine ends itself when its heap is full.
    const isStarved = this.#isOversized || (signalCode !== null && signalCode !== 'SIGKILL')
    return new BrokenContent(
      isStarved ? `it takes more than ${MEMORY_BYTES_MAX / MIB} MiB of memory to read` : 'it cannot be read as Parquet',
    )
  }

  async #onMessage(message: FromParquetProcess): Promise<void> {
    if (message.kind === 'lines') this.#resolve?.(message)
    else if (message.kind === 'end') this.#resolve?.(undefined)
    else if (message.kind === 'broken') this.#fail?.(new BrokenContent(message.message))
    else {
      try {
        const bytes = await this.#file.read(message.position, message.length)
        this.#workingSinceMs = performance.now()
        this.send({ kind: 'bytes', bytes })
      } catch (cause) {
        this.#fail?.(cause)
      }
    }
  }

  /** Ends a process that takes too much memory or time. */
  async #watch(ended: AbortSignal): Promise<void> {
    this.#workingSinceMs = performance.now()
    while (!ended.aborted) {
      await new Promise((done) => {
        const timer = setTimeout(done, MEMORY_EVERY_MS)
        ended.addEventListener('abort', () => {
          clearTimeout(timer)
          done(undefined)
        })
      })
      if (ended.aborted) return
      if (performance.now() - this.#workingSinceMs > PART_MS) {
        this.#fail?.(new BrokenContent(`a part of it takes more than ${PART_MS / 1_000} s to read`))
        return this.kill()
      } else if ((await residentBytes(this.#child.pid)) > MEMORY_BYTES_MAX) {
        this.#isOversized = true
        return this.kill()
      }
    }
  }
}

const PAGE_BYTES = 4096

/** The memory of a process; 0 where the system does not say. */
async function residentBytes(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')
  return Number(text.split(' ')[1] ?? 0) * PAGE_BYTES
}
