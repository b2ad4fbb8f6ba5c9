import type { Clock } from '../../kernel/clock.ts'
import { unavailable } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { lowestRunningInsert, syncReplicas } from './rows.ts'
import { SEND_MS, type Seq } from './seq.ts'

/** Tells readers that read events in the order of their numbers how far they can read without missing one. */
export type SettledNumbers = {
  /**
   * Returns the number below which no process will store another event, so that a read finds all of them. Undefined while this process
   * does not know because it has just started. Throws a 503 while the store cannot say.
   */
  below(): Promise<bigint | undefined>
  /** Returns the number from which on all events that arrive after this call have theirs; at least 1. */
  next(): Promise<bigint>
  /** Returns a number above those of all stored events, and not above those of future claims. */
  last(): Promise<bigint>
}

/** Between the last moment in which a number may be sent and the insert being visible in the store. */
const MARGIN_MS = 5_000
const SETTLE_MS = SEND_MS + MARGIN_MS
/** No insert runs for so long: its process ends the connection after a minute. */
const UNREACHABLE_MS = 15 * 60_000
const MARK_EVERY_MS = 1_000
/** Replicas are waited for less often than many readers ask. */
const SYNC_EVERY_MS = 10_000
/** How long other processes may use a claim for events that arrive. */
const CLAIM_USED_MS = 15_000
const NUMBERS_PER_MS = 1_000_000n

/** A number that was reached at that time. */
type Mark = { readonly atMs: number; readonly seq: bigint }

/**
 * The only process on a store knows its own inserts. With several processes, numbers are settled by their age: every process uses a claimed number
 * within SEND_MS, and a process that ended leaves at most an insert that the store still runs. An idle or ended process therefore delays nobody. Age is
 * measured by this process on its monotonic clock, since a number may be ahead of every clock.
 */
export function openSettledNumbers(store: EventStore, seq: Seq, { clock, log }: { clock: Clock; log: Logger }): SettledNumbers {
  let marks: readonly Mark[] = []
  let synced: Mark | undefined
  let syncing: Promise<bigint | undefined> | undefined

  /** All numbers below that of a mark had been claimed at its time. */
  async function ofAll(): Promise<bigint | undefined> {
    const nowMs = clock.monotonicMs()
    const last = marks.at(-1)
    if (last === undefined || nowMs - last.atMs >= MARK_EVERY_MS) marks = [...marks, { atMs: nowMs, seq: await seq.last() }]
    const old = marks.findLast(({ atMs }) => nowMs - atMs >= SETTLE_MS)
    const oldest = marks.findLast(({ atMs }) => nowMs - atMs >= UNREACHABLE_MS)
    marks = marks.filter(({ atMs }) => atMs >= (oldest?.atMs ?? Number.NEGATIVE_INFINITY))
    if (!old) return undefined
    try {
      const running = await lowestRunningInsert(store)
      return running !== undefined && running < old.seq ? running : old.seq
    } catch (cause) {
      log.debug({ err: cause }, 'running inserts are unknown')
      if (oldest) return oldest.seq
      throw unavailable('a node of the event store does not answer, so it is unknown which events are still being stored', { cause })
    }
  }

  async function onReplicas(): Promise<bigint | undefined> {
    const nowMs = clock.monotonicMs()
    if (synced && nowMs - synced.atMs < SYNC_EVERY_MS) return synced.seq
    const settled = await ofAll()
    if (settled === undefined) return undefined
    await syncReplicas(store).catch((cause) => {
      throw unavailable('a replica of the event store does not have all events yet', { cause })
    })
    synced = { atMs: nowMs, seq: settled }
    return settled
  }

  function shared(): Promise<bigint | undefined> {
    syncing ??= (store.cluster === undefined ? ofAll() : onReplicas()).finally(() => {
      syncing = undefined
    })
    return syncing
  }

  return {
    last: () => seq.last(),
    below: async () => (store.changes ? (seq.lowestOpen() ?? (await seq.last())) : shared()),
    next: async () => {
      const own = store.changes && seq.lowestOpen()
      if (own !== undefined) return own
      const last = await seq.last()
      const earliest = store.changes ? last : last - BigInt(CLAIM_USED_MS) * NUMBERS_PER_MS
      return earliest > 1n ? earliest : 1n
    },
  }
}
