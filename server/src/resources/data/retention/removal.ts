import { z } from 'zod'
import { type DeletionResult, type DeletionTarget, deleteEvents } from '../../../events/purge/purge.ts'
import type { JobKind, JobRun } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { deleteTombstones, EVENT_REMOVAL_JOB, selectTombstones, type TombstoneRow } from '../datasets/datasets.ts'
import { clockReadingSchema, DAY_MS, expiredBeforeDay, readClock } from './decide.ts'
import { allEffectiveRetentions } from './keepings.ts'
import { addRemoved } from './rows.ts'

type RemovalWorld = Pick<World, 'clock' | 'log' | 'events' | 'writer' | 'meta' | 'deployment'>

const MINUTE_MS = 60_000
const EVERY_MS = MINUTE_MS
/** How often expired events are looked for: a changed rule takes effect within an hour. */
const SWEEP_EVERY_MS = 15 * MINUTE_MS
/** How long an event stays in the store after it expired: recounts of the ledger go back a day, and senders of old events can still extend the retention. */
const SETTLE_MS = 2 * DAY_MS
const MARK_EVERY_MS = 60 * MINUTE_MS
/** How long a tombstone stays after its events are gone, for events that were in transit when the dataset was deleted. */
const LATE_MS = 60 * MINUTE_MS
/** The store rewrites for at most a tenth of the time, so that queries and merges are not delayed. */
const REST_FACTOR = 9
const REST_MAX_MS = 60 * MINUTE_MS

/** The sequence number reached at a time. Arrival is judged by number, because clocks may have been wrong. */
const Mark = z.object({ at_ms: z.number(), seq: z.string().regex(/^\d+$/) })

const State = z.object({
  reading: clockReadingSchema.optional(),
  marks: z.array(Mark).default([]),
  swept_at: z.number().optional(),
  rests_until: z.number().optional(),
})
/** The state of the job between runs. */
export type RemovalState = z.output<typeof State>

/** Starts again if the stored state is invalid. */
export const readState = (payload: Readonly<Record<string, unknown>>): RemovalState => State.catch({ marks: [] }).parse(payload)

/** Removes the events of deleted datasets and expired events, for the whole deployment. */
export const eventRemoval = (world: RemovalWorld): JobKind => ({
  name: EVENT_REMOVAL_JOB,
  everyMs: EVERY_MS,
  isDueAtStart: true,
  run: async (job) => ({ againInMs: EVERY_MS, payload: await runRemoval(world, job) }),
})

async function runRemoval(world: RemovalWorld, job: JobRun): Promise<RemovalState> {
  const { clock, meta, log } = world
  const nowMs = clock.nowMs()
  const state = readState(job.payload)
  const { reading, isTrusted } = readClock(state.reading, nowMs, clock.report?.())
  const next: RemovalState = { ...state, reading, marks: await marked(world, state.marks, nowMs) }
  const tombstones = await selectTombstones(meta)
  const isSweep = isTrusted && !isWithin(state.swept_at, nowMs, SWEEP_EVERY_MS)
  const old = isSweep ? await expiredEvents(world, settledBefore(next.marks, nowMs), nowMs) : []
  if (isSweep) next.swept_at = nowMs
  if (tombstones.length === 0 && old.length === 0) return next
  const away = await world.events.cold?.unavailableReason()
  if (away !== undefined) {
    // Parts that are dropped now would keep the store waiting, and leave their objects in the bucket if it starts again meanwhile.
    log.warn({ reason: away }, 'removal of events waits for cold storage')
    return { ...next, swept_at: state.swept_at }
  }

  const mayRewrite = !(state.rests_until !== undefined && nowMs < state.rests_until && state.rests_until - nowMs <= REST_MAX_MS)
  const dooms: DeletionTarget[] = [{ logIds: tombstones.map(({ id }) => id) }, ...old]
  const removal = await deleteEvents(world.events, dooms, { clock, log, signal: job.signal, mayRewrite })
  if (removal.rewritingMs > 0) next.rests_until = clock.nowMs() + Math.min(REST_MAX_MS, removal.rewritingMs * REST_FACTOR)
  // Rewrites that had to wait are retried as soon as the store has rested.
  if (removal.waiting.size > 0) next.swept_at = undefined
  await recordRemoval(world, job, { tombstones, old, removal }, nowMs)
  return next
}

const isWithin = (atMs: number | undefined, nowMs: number, spanMs: number): boolean =>
  atMs !== undefined && nowMs >= atMs && nowMs - atMs < spanMs

async function marked({ writer }: RemovalWorld, marks: RemovalState['marks'], nowMs: number): Promise<RemovalState['marks']> {
  const past = marks.filter(({ at_ms }) => at_ms <= nowMs)
  if (isWithin(past.at(-1)?.at_ms, nowMs, MARK_EVERY_MS)) return past
  const settled = past.findLastIndex(({ at_ms }) => at_ms <= nowMs - SETTLE_MS)
  return [...past.slice(Math.max(0, settled)), { at_ms: nowMs, seq: String(await writer.settled.last()) }]
}

/** The number below which all events have been stored for long enough; undefined if unknown. */
function settledBefore(marks: RemovalState['marks'], nowMs: number): bigint | undefined {
  const mark = marks.findLast(({ at_ms }) => at_ms <= nowMs - SETTLE_MS)
  return mark && BigInt(mark.seq)
}

/** Groups datasets that lose events of the same days. */
async function expiredEvents(world: RemovalWorld, beforeSeq: bigint | undefined, nowMs: number): Promise<DeletionTarget[]> {
  if (beforeSeq === undefined) return []
  const byDay = new Map<number, string[]>()
  for (const { id, cutoffMs } of await allEffectiveRetentions(world, nowMs)) {
    if (cutoffMs === undefined) continue
    const day = expiredBeforeDay(cutoffMs)
    byDay.set(day, [...(byDay.get(day) ?? []), id])
  }
  return [...byDay].map(([beforeDay, logIds]) => ({ logIds, old: { beforeDay, beforeSeq } }))
}

type RemovalOutcome = { tombstones: readonly TombstoneRow[]; old: readonly DeletionTarget[]; removal: DeletionResult }

async function recordRemoval(
  { meta, log }: RemovalWorld,
  job: JobRun,
  { tombstones, old, removal }: RemovalOutcome,
  nowMs: number,
): Promise<void> {
  const removed = old.flatMap(({ logIds, old: age }) =>
    logIds.flatMap((log_id) => {
      const events = removal.removed.get(log_id) ?? 0
      return events > 0 ? [{ log_id, events, before_ms: (age?.beforeDay ?? 0) * DAY_MS }] : []
    }),
  )
  const isOver = ({ id, deleted_at }: TombstoneRow): boolean =>
    nowMs - deleted_at >= LATE_MS && !removal.removed.has(id) && !removal.waiting.has(id)
  const over = tombstones.filter(isOver).map(({ id }) => id)
  for (const [log_id, events] of removal.removed) log.info({ log_id, events }, 'removed events from the store')
  if (removed.length === 0 && over.length === 0) return
  await meta.write('*', async (tx) => {
    await job.hold(tx)
    if (removed.length > 0) await addRemoved(tx, nowMs, removed)
    if (over.length > 0) await deleteTombstones(tx, over)
  })
}
