import { setImmediate } from 'node:timers/promises'
import type { EventStore } from '../events/store/events.ts'
import { branchesOf, conditionsIn, keysIn } from './branches.ts'
import { type EventsPlan, eventsPlan } from './events-statement.ts'
import { type Carrier, foundEvent, type StoredEvent, storedEvent } from './found-event.ts'
import { withStrays } from './overflow.ts'
import type { Bounds, EventsWish, FoundEvent, FoundEvents, Question } from './question.ts'
import { type Asking, costOf, run, startAsking } from './run.ts'
import { withShapes } from './shapes.ts'
import { windowsOf } from './windows.ts'

export { countEach, countMatching } from './counts.ts'
export { readStats } from './stats.ts'

const NS_PER_MS = 1_000_000n
/** CONDITIONS_FEW is how many conditions a filter has that takes the store next to no time to prepare. */
const CONDITIONS_FEW = 20

/** readEvents gives the events that a question means, in the order of the wish; it reads no further back than it has to. */
export async function readEvents(store: EventStore, question: Question, wish: EventsWish): Promise<FoundEvents> {
  const asking = startAsking(question)
  const keys = [...keysIn(question.filter), ...(wish.orderBy ? [wish.orderBy.key] : [])]
  const about = { keys, bounds: question.bounds }
  const shaped = await withShapes(store, asking, branchesOf(question.sources, keys), about)
  // To find out takes longer than to look everywhere, for a few conditions; for many it does not.
  const isLong = conditionsIn(question.filter).length > CONDITIONS_FEW
  const branches = isLong ? await withStrays(store, asking, shaped, about) : shaped
  // One more than wanted tells whether there are more.
  const sought = { ...wish, limit: wish.limit + 1 }
  const found: FoundEvent[] = []
  const bounds = beginningAt(keptOf(question), wish)
  const windows = wish.orderBy
    ? [bounds]
    : windowsOf(bounds, { newestFirst: wish.newestFirst, fewer: keys.includes('@raw') || question.sources.length < 2, few: isLong })
  for (const window of windows) {
    const plan = eventsPlan(
      branches,
      question,
      { ...sought, limit: sought.limit - found.length, ...startOf(window, question.bounds, wish) },
      window,
    )
    if (!plan) break
    found.push(...(await eventsOf(store, asking, plan, wish)))
    if (found.length > wish.limit) break
    question.onProgress?.(costOf(asking, shareOf(window, bounds)))
  }
  return { events: found.slice(0, wish.limit), hasMore: found.length > wish.limit, cost: costOf(asking, 1) }
}

/** EVENTS_AT_ONCE are put together before others have their turn. */
const EVENTS_AT_ONCE = 1_000

export async function eventsOf(
  store: EventStore,
  asking: Asking,
  { whole, carriers }: EventsPlan,
  wish: EventsWish,
): Promise<FoundEvent[]> {
  const rows = await run(store, asking, whole)
  const found: FoundEvent[] = []
  while (!rows.atEnd) {
    const stored = storedEvent(rows)
    found.push(foundEvent(stored, carrierOf(carriers, stored), wish))
    if (found.length % EVENTS_AT_ONCE === 0) await setImmediate()
  }
  return found
}

function carrierOf(carriers: readonly Carrier[], { branch }: StoredEvent): Carrier {
  const carrier = carriers[branch]
  if (!carrier) throw new Error('the event store gave back an event of a branch that was not asked')
  return carrier
}

/** keptOf leaves out of the bounds what is too old in every source; where all of it is, nothing is left. */
export function keptOf({ sources, bounds: { fromMs, toMs } }: Question): Bounds {
  const keptSinceMs = Math.min(...sources.map((source) => source.keptSinceMs ?? fromMs))
  return { fromMs: Math.min(toMs, Math.max(fromMs, keptSinceMs)), toMs }
}

/** beginningAt leaves out what lies before the position at which reading goes on. */
function beginningAt({ fromMs, toMs }: Bounds, { after, newestFirst }: EventsWish): Bounds {
  if (!after) return { fromMs, toMs }
  const atMs = Number(after.timeNs / NS_PER_MS)
  return newestFirst ? { fromMs, toMs: Math.min(toMs, atMs + 1) } : { fromMs: Math.max(fromMs, atMs), toMs }
}

/** startOf lets a number within the first millisecond count in the window that has that millisecond. */
function startOf(
  window: Bounds,
  bounds: Bounds,
  { fromSequence }: EventsWish,
): Pick<EventsWish, 'fromSequence'> | { fromSequence: undefined } {
  return { fromSequence: window.fromMs === bounds.fromMs ? fromSequence : undefined }
}

const shareOf = (window: Bounds, bounds: Bounds): number => (window.toMs - window.fromMs) / (bounds.toMs - bounds.fromMs)
