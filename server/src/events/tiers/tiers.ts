import type { Clock } from '../../kernel/clock.ts'
import { keptReading } from '../../kernel/kept-reading.ts'
import type { Logger } from '../../kernel/log.ts'
import { COLD_VOLUME } from '../store/cold-disk.ts'
import type { EventStore } from '../store/events.ts'
import { type ColdAges, isOlder, longerAges, partsToMove, type StoredPart } from './ages.ts'
import { ColdDescriptions } from './descriptions.ts'
import { isMoving, movePart, partsWith, selectParts } from './rows.ts'

export { countByTier } from './rows.ts'

/** What lies on the disk and in cold storage. In a cluster every copy counts. */
export type TierSizes = Record<'hot' | 'cold', { parts: number; bytes: number }>

/** Cold storage of the events: a bucket of the embedded engine, or a volume of a server. */
export type ColdTier = {
  readonly ages: ColdAges
  sizes(): Promise<TierSizes>
  readonly descriptions: ColdDescriptions
}

const SIZES_KEPT_MS = 15_000

export const openColdTier = (store: EventStore, ages: ColdAges, clock: Clock): ColdTier => ({
  ages,
  descriptions: new ColdDescriptions(),
  sizes: keptReading(SIZES_KEPT_MS, clock, async () => sizesOf(await selectParts(store))),
})

export function sizesOf(parts: readonly StoredPart[]): TierSizes {
  const sizes: TierSizes = { hot: { parts: 0, bytes: 0 }, cold: { parts: 0, bytes: 0 } }
  for (const { isCold, bytes } of parts) {
    const tier = sizes[isCold ? 'cold' : 'hot']
    tier.parts += 1
    tier.bytes += bytes
  }
  return sizes
}

export type MoveDeps = {
  clock: Clock
  log: Logger
  signal: AbortSignal
  /** Datasets that may have an age of their own. */
  datasets: readonly { id: string; org_id: string }[]
}

/** The time after which no further part is moved in one run. */
const RUN_MS = 120_000
const POLL_MS = 1_000
/** Bounds the length of a statement. */
const LOGS_MAX = 2_000
/** Error codes of a part that was merged meanwhile, or that is being merged: the next run finds it again. */
const BUSY: readonly string[] = ['232', '384']

/** Moves what is due, one part after the other, and returns how many parts are left. */
export async function moveParts(store: EventStore, ages: ColdAges, deps: MoveDeps): Promise<{ moved: number; left: number }> {
  const parts = await selectParts(store)
  const due = await dueParts(store, parts, ages, deps)
  const target = ages.otherwiseMs === undefined ? 'default' : COLD_VOLUME
  const endMs = deps.clock.monotonicMs() + RUN_MS
  let moved = 0
  for (const part of due) {
    if (deps.signal.aborted || deps.clock.monotonicMs() >= endMs) break
    if (await movedPart(store, part, target, deps)) moved += 1
  }
  return { moved, left: due.length - moved }
}

async function dueParts(store: EventStore, parts: readonly StoredPart[], ages: ColdAges, deps: MoveDeps): Promise<StoredPart[]> {
  if (ages.otherwiseMs === undefined) return distinctParts(parts.filter(({ isCold }) => isCold))
  const nowMs = deps.clock.nowMs()
  const due = distinctParts(partsToMove(parts, ages.otherwiseMs, nowMs))
  const kept = new Set<string>()
  for (const [ageMs, logIds] of longerAges(ages, deps.datasets)) {
    const young = due.filter((part) => !isOlder(part, ageMs, nowMs))
    for (const some of Map.groupBy(young, ({ table, day }) => `${table} ${day}`).values()) {
      const [{ table, day }] = some as [StoredPart]
      for (let from = 0; from < logIds.length; from += LOGS_MAX) {
        const names = some.map(({ name }) => name)
        for (const name of await partsWith(store, table, day, names, logIds.slice(from, from + LOGS_MAX))) kept.add(`${table} ${name}`)
      }
    }
  }
  return due.filter(({ table, name }) => !kept.has(`${table} ${name}`))
}

/**
 * Moves parts that a deletion has written again in cold storage to the disk, from where they move back like others: the engine then reads what describes
 * them. Returns how many parts were moved.
 */
export async function reloadRewritten(store: EventStore, { descriptions }: ColdTier, deps: Omit<MoveDeps, 'datasets'>): Promise<number> {
  if (!store.cold) return 0
  const missing = await descriptions.missing(store, await selectParts(store))
  for (const part of missing) await movedPart(store, part, 'default', deps)
  return missing.length
}

/** In a cluster a part is named once for all nodes that have it. */
const distinctParts = (parts: readonly StoredPart[]): StoredPart[] => [
  ...new Map(parts.map((part) => [`${part.table} ${part.name}`, part])).values(),
]

/** A move of a large part outlives its connection. */
async function movedPart(
  store: EventStore,
  part: StoredPart,
  volume: string,
  { clock, log, signal }: Omit<MoveDeps, 'datasets'>,
): Promise<boolean> {
  try {
    await movePart(store, part, volume)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && BUSY.includes(String(cause.code))) return false
    if (!(await isMoving(store, part))) throw cause
    while (await isMoving(store, part)) await clock.sleep(POLL_MS, signal)
  }
  log.info({ table: part.table, part: part.name, volume, bytes: part.bytes }, 'moved a part of the events')
  return true
}
