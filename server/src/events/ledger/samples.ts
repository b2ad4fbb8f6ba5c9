import type { Ids } from '../../kernel/ids.ts'
import { majority } from '../store/cluster-statements.ts'
import type { EventStore } from '../store/events.ts'

/**
 * A line that was chosen by chance, in proportion to its length, and the bytes that it stands for. `fields` divides them, and `pattern` is the hexadecimal
 * number of its pattern, '' for none.
 */
export type LineSample = { readonly bytes: number; readonly pattern: string; readonly fields: readonly (readonly [string, number])[] }

export type SampledOutcome = {
  readonly orgNumber: number
  readonly logId: string | undefined
  /** Names the program and the address that sent, '' when unknown. */
  readonly sender?: string
  readonly sampled?: readonly LineSample[]
}

export const sampleKinds = ['pattern', 'field', 'sender'] as const
export type SampleKind = (typeof sampleKinds)[number]

type Cell = {
  orgNumber: number
  logId: string
  dayMs: number
  kind: SampleKind
  name: string
  bytes: number
  changes: number
  written: number
}

const DAY_MS = 86_400_000
const WRITE_BOUND_MS = 30_000
/** The names of each kind in a dataset and day; what has further names is summed without one. */
const NAMES_MAX = 500
const NAME_CHARS_MAX = 200
/** From this size on the written cells are forgotten. Beyond the second, which only a store that is away leads to, new names are not kept. */
const CELLS_MAX = 50_000
const CELLS_HELD_MAX = 2 * CELLS_MAX

/** Sums samples by day, dataset and name in memory. What a killed process had not written is missing in the estimates, and nothing counts twice. */
export class SampleCounts {
  readonly #ids: Pick<Ids, 'uuid'>
  #page: string
  #version = 0
  #cells = new Map<string, Cell>()
  /** The number of names of each kind, dataset and day. */
  #names = new Map<string, number>()

  constructor(ids: Pick<Ids, 'uuid'>) {
    this.#ids = ids
    this.#page = ids.uuid()
  }

  get size(): number {
    return this.#cells.size
  }

  note({ orgNumber, logId, sender = '', sampled = [] }: SampledOutcome, nowMs: number): void {
    if (logId === undefined) return
    const dayMs = Math.floor(nowMs / DAY_MS) * DAY_MS
    for (const { bytes, pattern, fields } of sampled) {
      const at = { orgNumber, logId, dayMs }
      this.#add({ ...at, kind: 'pattern', name: pattern }, bytes)
      this.#add({ ...at, kind: 'sender', name: sender }, bytes)
      for (const [name, own] of fields) this.#add({ ...at, kind: 'field', name }, own)
    }
  }

  #add(place: Pick<Cell, 'orgNumber' | 'logId' | 'dayMs' | 'kind' | 'name'>, bytes: number): void {
    const group = `${place.logId} ${place.dayMs} ${place.kind}`
    const isFull = (this.#names.get(group) ?? 0) >= NAMES_MAX || this.#cells.size >= CELLS_HELD_MAX
    // The store refuses all rows with a text that is none.
    const own = place.name.slice(0, NAME_CHARS_MAX).toWellFormed()
    const name = isFull && !this.#cells.has(`${group} ${own}`) ? '' : own
    const known = this.#cells.get(`${group} ${name}`)
    const cell = known ?? { ...place, name, bytes: 0, changes: 0, written: 0 }
    if (!known) {
      this.#cells.set(`${group} ${name}`, cell)
      this.#names.set(group, (this.#names.get(group) ?? 0) + 1)
    }
    cell.bytes += bytes
    cell.changes += 1
  }

  /** Writes the sums that changed. Never call it while another call runs. */
  async write(store: EventStore): Promise<void> {
    const changed = [...this.#cells.values()]
      .filter(({ changes, written }) => changes > written)
      .map((cell) => ({ cell, changes: cell.changes }))
    if (changed.length > 0) {
      this.#version += 1
      await insertSamples(
        store,
        changed.map(({ cell }) => ({ ...cell, page: this.#page, version: this.#version })),
      )
      for (const { cell, changes } of changed) cell.written = changes
    }
    if (this.#cells.size >= CELLS_MAX && [...this.#cells.values()].every(({ changes, written }) => changes === written)) this.#begin()
  }

  /** Begins another page, whose sums add to those of the others. */
  #begin(): void {
    this.#page = this.#ids.uuid()
    this.#cells = new Map()
    this.#names = new Map()
  }
}

type SampleRow = Pick<Cell, 'orgNumber' | 'logId' | 'dayMs' | 'kind' | 'name' | 'bytes'> & { page: string; version: number }

async function insertSamples(store: EventStore, rows: readonly SampleRow[]): Promise<void> {
  await store.writer.insert({
    table: 'spend_samples',
    values: rows.map(({ orgNumber, logId, dayMs, kind, name, bytes, page, version }) => ({
      org_id: orgNumber,
      log_id: logId,
      day: dayMs / 1_000,
      kind,
      name,
      page,
      version,
      bytes: Math.round(bytes),
    })),
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(WRITE_BOUND_MS),
    clickhouse_settings: { async_insert: 0, ...majority(store.cluster) },
  })
}
