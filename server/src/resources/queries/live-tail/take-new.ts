import type { FoundEvent } from '../../../reading/query.ts'
import { advanced, datasetKeyOf, isNew, type TailPosition } from './position.ts'
import { bySequence, endOf, type Tail } from './tail.ts'

/** The offset up to which a job has processed each tail of this process. Earlier events are past, do not match, or were returned here. */
export type TailOffsets = ReadonlyMap<string, number>

/** A job that takes events from tails. */
export type TailConsumer = {
  position: TailPosition
  offsets: TailOffsets
  /** Undefined when every event matches. */
  matches: ((event: FoundEvent) => boolean) | undefined
  /** Datasets that existed when the job started but match its selection only since now. Their earlier events are not shown. */
  joined: ReadonlySet<string>
  /** Leaves out events beyond the share of a stream. */
  sample?: Sampling | undefined
}

/**
 * Events taken for a job, and its position and offsets after them. Each event stands for `oneOf` events. `missed` events were dropped before the job took
 * them. `previousOffsets` are the offsets before.
 */
export type TakenEvents = {
  events: FoundEvent[]
  oneOf: number
  missed: number
  previousOffsets: TailOffsets
  offsets: TailOffsets
  position: TailPosition
}

/** Given the numbers of all waiting events, returns a filter for those to send. */
export type Sampling = (seqs: readonly bigint[]) => (seq: bigint) => boolean

type Candidate = { readonly tail: Tail; readonly event: FoundEvent; readonly offset: number }

/** Takes up to `limit` new matching events in order of arrival. The rest waits for the next call. */
export function takeNew(
  tails: readonly Tail[],
  { position, offsets, matches, joined, sample }: TailConsumer,
  limit: number,
  nowMs: number,
): TakenEvents {
  const previousOffsets = new Map(tails.map((tail) => [tail.logId, offsets.get(tail.logId) ?? tail.first]))
  let missed = 0
  const past: bigint[] = []
  const wanted: Candidate[] = []
  for (const tail of tails) {
    const skipped = (previousOffsets.get(tail.logId) ?? tail.first) - tail.first
    missed += Math.max(0, -skipped)
    const isJoined = joined.has(tail.logId)
    if (isJoined) for (const seq of tail.past) past.push(seq)
    for (let index = Math.max(0, skipped); index < tail.events.length; index += 1) {
      const event = tail.events[index]?.event
      if (!event || !isNew(position, event.seq) || matches?.(event) === false) continue
      if (isJoined) past.push(event.seq)
      else wanted.push({ tail, event, offset: tail.first + index })
    }
  }
  const isSampled = sample?.(wanted.map(({ event }) => event.seq))
  const waiting = isSampled ? wanted.filter(({ event }) => isSampled(event.seq)) : wanted
  waiting.sort((one, other) => bySequence(one.event, other.event))
  const [taken, rest] = [waiting.slice(0, limit), waiting.slice(limit)]
  const next = new Map(tails.map((tail) => [tail.logId, endOf(tail)]))
  for (const { tail, offset } of rest) next.set(tail.logId, Math.min(offset, next.get(tail.logId) ?? offset))
  return {
    events: taken.map(({ event }) => event),
    oneOf: tails.reduce((most, tail) => Math.max(most, tail.oneOf.now), 1),
    missed,
    previousOffsets,
    offsets: next,
    position: advanced(position, {
      returned: [...past, ...taken.map(({ event }) => event.seq)],
      waiting: rest[0]?.event.seq,
      known: new Set(tails.map(({ logId }) => datasetKeyOf(logId))),
      nowMs,
    }),
  }
}
