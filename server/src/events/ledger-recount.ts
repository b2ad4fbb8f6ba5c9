import type { EventStore } from './events.ts'
import { UNIT_MS } from './ledger-rollup-rows.ts'
import {
  type CorrectionRow,
  countEvents,
  type Found,
  insertCorrections,
  selectRolledDays,
  selectTallies,
  type Tally,
} from './ledger-rows.ts'

/** A Difference is a minute of a dataset in which ledger and store did not agree before this recount. */
export type Difference = {
  orgNumber: number
  logId: string
  minuteMs: number
  /** added is how many events are stored that nobody noted: their process was killed between the two. */
  added: number
  /** missing is how many noted events are not in the store. */
  missing: number
  /** isNew is false when an earlier recount had found a difference in this minute, and it is not the same or has not gone. */
  isNew: boolean
}

/**
 * recount compares the ledger with the stored events of all minutes from `fromMs` to just before `toMs`, writes what is different into the
 * ledger and gives it back. The minutes must be settled: a post counts as stored in the minute in which it got its numbers, and is noted when
 * its insert is done. `mayMiss` says of which datasets events were taken away on purpose: of these a recount can only find more.
 */
export async function recount(
  store: EventStore,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  mayMiss: (logId: string) => boolean,
): Promise<Difference[]> {
  const tallies = await selectTallies(store, fromMs, toMs)
  const found = await countEvents(store, fromMs, toMs)
  const rolled = await selectRolledDays(store, fromMs, toMs)
  const isApart = ({ minuteMs }: { minuteMs: number }) => !rolled.has(Math.floor(minuteMs / UNIT_MS.day) * UNIT_MS.day)
  const { corrections, differences } = compare(tallies.filter(isApart), found.filter(isApart), mayMiss)
  await insertCorrections(store, corrections)
  return differences
}

/** compare decides what a recount writes; a minute on which ledger, store and the last recount agree is left alone. */
export function compare(
  tallies: readonly Tally[],
  found: readonly Found[],
  mayMiss: (logId: string) => boolean,
): { corrections: CorrectionRow[]; differences: Difference[] } {
  const places = new Map<string, { tally: Tally; events: number }>()
  const placeOf = ({ org_id, log_id, minuteMs }: Omit<Found, 'events'>): string => `${org_id} ${log_id} ${minuteMs}`
  for (const tally of tallies) places.set(placeOf(tally), { tally, events: 0 })
  for (const { events, ...at } of found) {
    const tally = places.get(placeOf(at))?.tally ?? { ...at, noted: 0, added: 0, missing: 0, version: 0 }
    places.set(placeOf(at), { tally, events })
  }
  const corrections: CorrectionRow[] = []
  const differences: Difference[] = []
  for (const { tally, events } of places.values()) {
    const { org_id, log_id, minuteMs, noted, version } = tally
    const surplus = Math.max(0, events - noted)
    const [added, missing] = mayMiss(log_id) ? [Math.max(tally.added, surplus), tally.missing] : [surplus, Math.max(0, noted - events)]
    const isSame = tally.added === added && tally.missing === missing
    if (!isSame) corrections.push({ org_id, log_id, minuteMs, version: version + 1, added, missing })
    if (!isSame || missing > 0) differences.push({ orgNumber: org_id, logId: log_id, minuteMs, added, missing, isNew: version === 0 })
  }
  return { corrections, differences }
}
