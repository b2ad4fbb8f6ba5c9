import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ApiFailure, openResponse } from '@dendro/api'
import { bytesText } from './cost.ts'
import { pause } from './follow.ts'
import type { Terminal } from './terminal.ts'

/** A file of the service: its link, which is renewed at every attempt, its size and its entity tag. */
export type RemoteFile = { link(): Promise<string>; bytes: number; etag: string }

const ATTEMPTS_MAX = 6
const RETRY_MS = 500

/** A failure to write the file, such as a full disk; another attempt does not help. */
const isFileError = (thrown: unknown): boolean =>
  thrown instanceof Error && 'syscall' in thrown && ['open', 'write', 'close'].includes(String(thrown.syscall))

/** Downloads a file into a part file or to standard output. It continues with range requests after an interruption. */
export class Download {
  readonly #remote: RemoteFile
  readonly #part: string | undefined
  readonly #terminal: Terminal
  #received = 0
  #printed = 0

  constructor(remote: RemoteFile, part: string | undefined, terminal: Terminal) {
    this.#remote = remote
    this.#part = part
    this.#terminal = terminal
  }

  /** Ends when all bytes are there. Attempts without any progress are bounded. */
  async run(): Promise<void> {
    const { bytes } = this.#remote
    const { signal } = this.#terminal
    this.#received = await this.#sizeOfPart()
    // A part that is longer than the file belongs to something else.
    if (this.#received > bytes) this.#received = 0
    for (let attempt = 1; this.#received < bytes || (bytes === 0 && attempt === 1); attempt += 1) {
      const before = this.#received
      try {
        await this.#receive()
      } catch (thrown) {
        signal.throwIfAborted()
        const isRefused = thrown instanceof ApiFailure && thrown.status < 500 && thrown.status !== 429
        if (isRefused || isFileError(thrown) || attempt >= ATTEMPTS_MAX) throw thrown
        this.#terminal.err(`dendro: the download was interrupted after ${bytesText(this.#received)}; continuing`)
        await pause(RETRY_MS * 2 ** attempt, signal)
        signal.throwIfAborted()
      }
      if (this.#received > before) attempt = 0
    }
    if (this.#received !== bytes) throw new Error(`the file has ${this.#received} bytes instead of ${bytes}`)
  }

  async #sizeOfPart(): Promise<number> {
    if (this.#part === undefined) return 0
    return stat(this.#part).then(
      ({ size }) => size,
      () => 0,
    )
  }

  async #receive(): Promise<void> {
    const { link, bytes, etag } = this.#remote
    const { signal } = this.#terminal
    const from = this.#received
    const headers = { 'accept-encoding': 'identity', ...(from === 0 ? {} : { range: `bytes=${from}-` }) }
    const response = await openResponse({ baseUrl: '' }, await link(), { headers, signal })
    const tag = response.headers.get('etag')
    if (tag !== null && tag !== `"${etag}"`) throw new Error('the service sent another file')
    if (from > 0 && (response.status !== 206 || !response.headers.get('content-range')?.startsWith(`bytes ${from}-`))) this.#received = 0
    const body = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>
    if (this.#part === undefined) await this.#print(body)
    else await this.#append(body, this.#part)
    if (this.#received > bytes) throw new Error(`the service sent more than ${bytes} bytes`)
  }

  async #append(body: AsyncIterable<Uint8Array>, part: string): Promise<void> {
    const options = this.#received === 0 ? { flags: 'w', mode: 0o600 } : { flags: 'r+', start: this.#received }
    await pipeline(this.#counted(body), createWriteStream(part, options))
  }

  async *#counted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      yield piece
      this.#count(piece)
    }
  }

  /** Standard output cannot be rewound, so bytes that come a second time are left out. */
  async #print(body: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const piece of body) {
      const known = Math.max(0, Math.min(piece.length, this.#printed - this.#received))
      if (known < piece.length) await this.#terminal.write(piece.subarray(known))
      this.#count(piece)
      this.#printed = Math.max(this.#printed, this.#received)
    }
  }

  #count(piece: Uint8Array): void {
    this.#received += piece.length
    this.#terminal.progress(`Downloading… ${bytesText(this.#received)} of ${bytesText(this.#remote.bytes)}`)
  }
}
