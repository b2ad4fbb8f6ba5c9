import type { ReadTiers } from '../store/cold-disk.ts'
import type { EventStore } from '../store/events.ts'
import { seqAt } from '../writer/seq.ts'
import { lineBytes } from './bytes.ts'
import { UNIT_MS } from './rollup-rows.ts'
import {
  type CorrectionRow,
  countEvents,
  insertCorrections,
  type LedgerTally,
  type StoredCount,
  selectRolledDays,
  selectTallies,
} from './rows.ts'

/** A minute of a dataset in which ledger and store disagreed before this recount. */
export type RecountDifference = {
  orgNumber: number
  logId: string
  minuteMs: number
  /** Stored events that were not noted: their process was killed between insert and note. */
  added: number
  /** Noted events that are not in the store. */
  missing: number
  /** True when no earlier recount found a difference in this minute. */
  isNew: boolean
}

/** Full minutes in [fromMs, toMs). */
export type RecountSpan = {
  fromMs: number
  toMs: number
  /**
   * Set by a process that has just started. The events stored before `ms` are complete, although the last minute is not. `pages` are the
   * pages the process itself has written since.
   */
  start?: { ms: number; pages: readonly string[] }
  /** While the bucket of cold storage is away, only events on the local disk are counted, and the recount only adds. */
  tiers?: ReadTiers
}

/**
 * Compares the ledger with the stored events of a span, writes the differences into the ledger and returns them. The minutes must be
 * settled unless they lie before a start: a post counts as stored in the minute of its sequence numbers, but is noted when its insert is
 * done. `mayMiss` is true for datasets from which events were deleted on purpose; a recount only adds to those.
 */
export async function recount(store: EventStore, span: RecountSpan, mayMiss: (logId: string) => boolean): Promise<RecountDifference[]> {
  const { fromMs, toMs, start, tiers = 'all' } = span
  const endMs = start ? Math.min(start.ms, toMs) : toMs
  const tallies = await selectTallies(store, fromMs, toMs, start?.pages ?? [])
  const found = await countEvents(store, fromMs, endMs, tiers)
  const rolled = await selectRolledDays(store, fromMs, toMs)
  const isApart = ({ minuteMs }: { minuteMs: number }) => !rolled.has(Math.floor(minuteMs / UNIT_MS.day) * UNIT_MS.day)
  // Other processes may have noted events since the start that were not counted here. A recount only adds to the minutes around it.
  const isOpen = (minuteMs: number) => start !== undefined && minuteMs > start.ms - OPEN_MS
  const { corrections, differences } = compare(
    tallies.filter(isApart),
    found.filter(isApart),
    (logId, minuteMs) => tiers !== 'all' || mayMiss(logId) || isOpen(minuteMs),
  )
  await insertCorrections(store, await withBytes(store, corrections, tallies, { endMs, tiers }))
  return differences
}

/** Longer than a post can be in progress. */
const OPEN_MS = 120_000

/** Measures the lines of minutes in which unnoted events were found. Their bytes are those of the minute minus the noted ones. */
async function withBytes(
  store: EventStore,
  corrections: readonly Omit<CorrectionRow, 'rawBytes'>[],
  tallies: readonly LedgerTally[],
  { endMs, tiers }: { endMs: number; tiers: ReadTiers },
): Promise<CorrectionRow[]> {
  const noted = new Map(tallies.map((tally) => [cellKeyOf(tally), tally.notedBytes]))
  const measured: CorrectionRow[] = []
  for (const one of corrections) {
    const { org_id: orgNumber, log_id: logId, minuteMs, added } = one
    const span = { orgNumber, logId, from: seqAt(minuteMs), to: seqAt(Math.min(endMs, minuteMs + UNIT_MS.minute)) }
    const rawBytes = added === 0 ? 0 : Math.max(0, (await lineBytes(store, span, tiers)) - (noted.get(cellKeyOf(one)) ?? 0))
    measured.push({ ...one, rawBytes })
  }
  return measured
}

const cellKeyOf = ({ org_id, log_id, minuteMs }: Omit<StoredCount, 'events'>): string => `${org_id} ${log_id} ${minuteMs}`

/** Decides what a recount writes. A minute on which ledger, store and the last recount agree is left alone. */
export function compare(
  tallies: readonly LedgerTally[],
  found: readonly StoredCount[],
  mayMiss: (logId: string, minuteMs: number) => boolean,
): { corrections: Omit<CorrectionRow, 'rawBytes'>[]; differences: RecountDifference[] } {
  const places = new Map<string, { tally: LedgerTally; events: number }>()
  for (const tally of tallies) places.set(cellKeyOf(tally), { tally, events: 0 })
  for (const { events, ...at } of found) {
    const tally = places.get(cellKeyOf(at))?.tally ?? { ...at, noted: 0, notedBytes: 0, added: 0, missing: 0, version: 0 }
    places.set(cellKeyOf(at), { tally, events })
  }
  const corrections: Omit<CorrectionRow, 'rawBytes'>[] = []
  const differences: RecountDifference[] = []
  for (const { tally, events } of places.values()) {
    const { org_id, log_id, minuteMs, noted, version } = tally
    const surplus = Math.max(0, events - noted)
    const [added, missing] = mayMiss(log_id, minuteMs)
      ? [Math.max(tally.added, surplus), tally.missing]
      : [surplus, Math.max(0, noted - events)]
    const isSame = tally.added === added && tally.missing === missing
    if (!isSame) corrections.push({ org_id, log_id, minuteMs, version: version + 1, added, missing })
    if (!isSame || missing > 0) differences.push({ orgNumber: org_id, logId: log_id, minuteMs, added, missing, isNew: version === 0 })
  }
  return { corrections, differences }
}
