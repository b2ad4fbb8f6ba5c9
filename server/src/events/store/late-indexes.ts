import type { Clock } from '../../kernel/clock.ts'
import { every } from '../../kernel/every.ts'
import type { Logger } from '../../kernel/log.ts'
import type { EventStore } from './events.ts'
import { indexPartition, selectUnindexedParts, tablesBeingIndexed, type UnindexedPart } from './rows.ts'

/** When a part has settled, which means that it will hardly be merged again. */
export type Settling = {
  /** A part with this number of events has settled: the next merge with others of its size is far away. */
  rowsMin: number
  /** A part that has existed for so long has settled. */
  ageMinS: number
  /** A partition with fewer events in settled parts is read without indexes. */
  partitionRowsMin: number
}

const SETTLING: Settling = { rowsMin: 1_000_000, ageMinS: 60, partitionRowsMin: 65_536 }
const SWEEP_EVERY_MS = 15_000
const SWEEP_BOUND_MS = 60_000
/** Bounds the partitions of one sweep, so that a long backlog does not keep merges waiting. */
const PARTITIONS_MAX = 4

export type Partition = { table: string; partition: string }

/**
 * The partitions whose late indexes should be built now. The store builds them for all parts of a partition, so the settled parts must have at least
 * half of the events. Parts in `tried` are left out.
 */
export function partitionsToIndex(
  parts: readonly UnindexedPart[],
  tried: ReadonlySet<string>,
  { rowsMin, ageMinS, partitionRowsMin }: Settling,
): Partition[] {
  const open = parts.filter((part) => !tried.has(lineageOf(part)))
  return [...Map.groupBy(open, ({ table, partition }) => `${table} ${partition}`).values()].flatMap((members) => {
    const settled = members.filter(({ rows, ageS }) => rows >= rowsMin || ageS >= ageMinS)
    const [all, some] = [members, settled].map((list) => list.reduce((sum, { rows }) => sum + rows, 0)) as [number, number]
    const [first] = members
    return first && some >= partitionRowsMin && some * 2 >= all ? [{ table: first.table, partition: first.partition }] : []
  })
}

/** Names a part and what becomes of it when indexes are added, which only appends a number to its name. */
const lineageOf = ({ node, table, name }: UnindexedPart): string => `${node} ${table} ${name.split('_').slice(0, 4).join('_')}`

/** Builds the late indexes of settled parts. */
export class LateIndexes {
  readonly #store: EventStore
  readonly #settling: Settling
  /** Parts whose indexes were requested. A part without words looks as if it had none even afterwards, and is not tried again. */
  #tried = new Set<string>()

  constructor(store: EventStore, settling: Settling = SETTLING) {
    this.#store = store
    this.#settling = settling
  }

  /** Starts to build indexes in the store, and returns the partitions. The store continues on its own, also after a restart. */
  async sweep(signal?: AbortSignal): Promise<Partition[]> {
    const bound = AbortSignal.timeout(SWEEP_BOUND_MS)
    const either = signal ? AbortSignal.any([signal, bound]) : bound
    const parts = await selectUnindexedParts(this.#store, either)
    const present = new Set(parts.map(lineageOf))
    this.#tried = new Set([...this.#tried].filter((part) => present.has(part)))
    const due = partitionsToIndex(parts, this.#tried, this.#settling)
    if (due.length === 0) return []
    const busy = await tablesBeingIndexed(this.#store, either)
    const chosen = due.filter(({ table }) => !busy.has(table)).slice(0, PARTITIONS_MAX)
    for (const place of chosen) {
      await indexPartition(this.#store, place, either)
      for (const part of parts) if (part.table === place.table && part.partition === place.partition) this.#tried.add(lineageOf(part))
    }
    return chosen
  }
}

/** Builds late indexes in the background while there is space on the disk. */
export function openLateIndexes(
  store: EventStore,
  isDiskFree: () => boolean,
  { clock, log }: { clock: Clock; log: Logger },
): { close(): Promise<void> } {
  const indexes = new LateIndexes(store)
  const closing = new AbortController()
  const repetition = {
    clock,
    log,
    signal: closing.signal,
    first: 'later',
    failed: 'the indexes of settled parts could not be built yet',
  } as const
  const sweeping = every(SWEEP_EVERY_MS, repetition, async () => {
    if (isDiskFree()) await indexes.sweep(closing.signal)
  })
  return {
    close: async () => {
      closing.abort()
      await sweeping
    },
  }
}
