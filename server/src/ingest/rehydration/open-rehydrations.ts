import type { RehydrationRow } from '../../resources/data/rehydrations/rehydrations.ts'
import type { BrokenContent, SourceContent } from '../sources/content.ts'
import type { SourceWorld } from '../sources/post.ts'
import { type OpenOrigin, openOrigin } from './origin-files.ts'

/** The content of a file while it is read. `at` is up to where it was decompressed. */
export type OpenContent = { readonly number: number; readonly content: SourceContent; readonly broken: BrokenContent[]; at: number }

/** What stays open of a rehydration between its steps, so that an archive is decompressed once. */
export type OpenRehydration = {
  readonly origin: OpenOrigin
  /** Aborts when it is closed. */
  readonly signal: AbortSignal
  reading: OpenContent | undefined
}

type Entry = { open: OpenRehydration; stop: AbortController; timer: NodeJS.Timeout | undefined }

const OPEN_MAX = 4
/** Steps of other rehydrations lie between two steps of one. */
const IDLE_MS = 600_000

/** The rehydrations that this process has open. */
export class OpenRehydrations {
  readonly #world: SourceWorld
  readonly #entries = new Map<string, Entry>()

  constructor(world: SourceWorld) {
    this.#world = world
  }

  /** Opens a rehydration, or gives what an earlier step has left open. */
  async get(row: RehydrationRow): Promise<OpenRehydration> {
    const known = this.#entries.get(row.id)
    if (known) {
      clearTimeout(known.timer)
      return known.open
    }
    const stop = new AbortController()
    const open = { origin: await openOrigin(this.#world, row, stop.signal), signal: stop.signal, reading: undefined }
    this.#entries.set(row.id, { open, stop, timer: undefined })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > OPEN_MAX && oldest !== undefined) await this.close(oldest)
    return open
  }

  /** Leaves a rehydration open for its next step. */
  async leave(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    entry.timer = setTimeout(() => void this.close(id), IDLE_MS).unref()
    await entry.open.reading?.content.pause?.()
  }

  /** Ends what is being read of it, too. */
  async close(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#entries.delete(id)
    clearTimeout(entry.timer)
    entry.stop.abort()
    await closeContent(entry.open)
    entry.open.origin.close()
  }

  async closeAll(): Promise<void> {
    for (const id of [...this.#entries.keys()]) await this.close(id)
  }
}

export async function closeContent(open: OpenRehydration): Promise<void> {
  const { reading } = open
  open.reading = undefined
  await reading?.content.close().catch(() => undefined)
}
