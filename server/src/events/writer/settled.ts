import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { lowestRunningInsert } from './rows.ts'
import { lastNumber, SEND_MS, type Seq } from './seq.ts'

/** Tells readers that read events in the order of their numbers how far they can read without missing one. */
export type SettledNumbers = {
  /**
   * Returns the number below which no process will store another event, so that a read finds all of them. Undefined while this process
   * does not know: it has just started, or the store does not answer.
   */
  below(): Promise<bigint | undefined>
  /** Returns the number from which on all events that arrive after this call have theirs. */
  next(): Promise<bigint>
}

/** Between the last moment in which a number may be sent and the insert being visible in the store. */
const MARGIN_MS = 5_000
const SETTLE_MS = SEND_MS + MARGIN_MS
/** No insert runs for so long: its process ends the connection after a minute. */
const UNREACHABLE_MS = 15 * 60_000
const MARK_EVERY_MS = 1_000
/** How long other processes may use a claim for events that arrive. */
const CLAIM_USED_MS = 15_000
const NUMBERS_PER_MS = 1_000_000n

/** All numbers below `seq` had been claimed at that time. */
type Mark = { readonly atMs: number; readonly seq: bigint }

/**
 * The only process on a store knows its own inserts. With several processes, numbers are settled by their age: every process uses a claimed number
 * within SEND_MS, and a process that ended leaves at most an insert that the store still runs. An idle or ended process therefore delays nobody. Age is
 * measured by this process on its monotonic clock, since a number may be ahead of every clock.
 */
export function openSettledNumbers(store: EventStore, seq: Seq, { clock, log }: { clock: Clock; log: Logger }): SettledNumbers {
  let marks: readonly Mark[] = []

  async function ofAll(): Promise<bigint | undefined> {
    const nowMs = clock.monotonicMs()
    const last = marks.at(-1)
    if (last === undefined || nowMs - last.atMs >= MARK_EVERY_MS) marks = [...marks, { atMs: nowMs, seq: await lastNumber(store) }]
    const old = marks.findLast(({ atMs }) => nowMs - atMs >= SETTLE_MS)
    // The mark before is for when a node does not answer.
    const oldest = marks.findLast(({ atMs }) => nowMs - atMs >= UNREACHABLE_MS)
    marks = marks.filter((mark) => mark.atMs >= (oldest ?? mark).atMs)
    if (!old) return undefined
    try {
      const running = await lowestRunningInsert(store)
      return running !== undefined && running < old.seq ? running : old.seq
    } catch (err) {
      log.debug({ err }, 'running inserts are unknown')
      return oldest?.seq
    }
  }

  return {
    below: async () => (store.changes ? (seq.lowestOpen() ?? (await lastNumber(store))) : ofAll()),
    next: async () => {
      const own = store.changes && seq.lowestOpen()
      if (own !== undefined) return own
      const last = await lastNumber(store)
      const earliest = last - BigInt(CLAIM_USED_MS) * NUMBERS_PER_MS
      return store.changes ? last : earliest > 0n ? earliest : 0n
    },
  }
}
