import type { FoundEvent } from '../../../reading/event-query.ts'
import { advanced, isNew, knownBy, type TailPosition } from './position.ts'
import { bySequence, endOf, type Tail } from './tail.ts'

/** A Watch is up to where in the tails of this process all was looked at: what lies before is past, does not match, or was given here. */
export type Watch = ReadonlyMap<string, number>

/**
 * A Watcher is who takes events: what he wants, how far he has come, and which datasets chose him only now though they were there before. `thin` leaves
 * out of what he wants what is more than he may have.
 */
export type Watcher = {
  position: TailPosition
  watch: Watch
  /** matches is undefined when every event does. */
  matches: ((event: FoundEvent) => boolean) | undefined
  joined: ReadonlySet<string>
  thin?: ((seqs: readonly bigint[]) => (seq: bigint) => boolean) | undefined
}

/**
 * Taken are events for a watcher and where he is after them; one stands for `oneOf`, and `missed` of a dataset were gone before he came to take them. `from` is
 * where he was before.
 */
export type Taken = { events: FoundEvent[]; oneOf: number; missed: number; from: Watch; watch: Watch; position: TailPosition }

type Candidate = { readonly tail: Tail; readonly event: FoundEvent; readonly number: number }

/** takeNew gives a watcher the matching events that he has not had, in the order of their arrival, at most `limit`: the rest stays for the next time. */
export function takeNew(tails: readonly Tail[], { position, watch, matches, joined, thin }: Watcher, limit: number, nowMs: number): Taken {
  const from = new Map(tails.map((tail) => [tail.logId, watch.get(tail.logId) ?? tail.first]))
  let missed = 0
  const past: bigint[] = []
  const wanted: Candidate[] = []
  for (const tail of tails) {
    const skipped = (from.get(tail.logId) ?? tail.first) - tail.first
    missed += Math.max(0, -skipped)
    const isJoined = joined.has(tail.logId)
    if (isJoined) for (const seq of tail.past) past.push(seq)
    for (let index = Math.max(0, skipped); index < tail.events.length; index += 1) {
      const event = tail.events[index]?.event
      if (!event || !isNew(position, event.seq) || matches?.(event) === false) continue
      if (isJoined) past.push(event.seq)
      else wanted.push({ tail, event, number: tail.first + index })
    }
  }
  const isKept = thin?.(wanted.map(({ event }) => event.seq))
  const waiting = isKept ? wanted.filter(({ event }) => isKept(event.seq)) : wanted
  waiting.sort((one, other) => bySequence(one.event, other.event))
  const [taken, rest] = [waiting.slice(0, limit), waiting.slice(limit)]
  const next = new Map(tails.map((tail) => [tail.logId, endOf(tail)]))
  for (const { tail, number } of rest) next.set(tail.logId, Math.min(number, next.get(tail.logId) ?? number))
  return {
    events: taken.map(({ event }) => event),
    oneOf: tails.reduce((most, tail) => Math.max(most, tail.oneOf.now), 1),
    missed,
    from,
    watch: next,
    position: advanced(position, {
      given: [...past, ...taken.map(({ event }) => event.seq)],
      waiting: rest[0]?.event.seq,
      known: new Set(tails.map(({ logId }) => knownBy(logId))),
      nowMs,
    }),
  }
}
