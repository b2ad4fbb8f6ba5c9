import { z } from 'zod'
import type { JobKind, JobRun } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { readClock, readingOf } from '../../data/retention/retention.ts'
import { collectHours, HOUR_MS, KEPT_MS, tidyCounters, type Write } from './collect.ts'
import { evaluateOrganization } from './evaluate.ts'
import { selectOrganizations } from './evaluation-rows.ts'

const KIND = 'insights'
const EVERY_MS = 10 * 60_000
/** An hour is counted once its last events had time to arrive. */
const SETTLED_MS = 5 * 60_000
/** The hours that are read together. After a pause, and at first, the hours of four weeks are read. */
const HOURS_AT_ONCE = 6
/** Then the job goes on in its next run, so that a restart repeats little. */
const CATCH_UP_HOURS = 48
/** The hour before is read again for late events. */
const REPEATED_MS = HOUR_MS
/** A longer pause between two runs means that the service did not run. */
const PAUSE_MS = 2 * HOUR_MS

const State = z.object({
  /** The hours before it are collected. */
  collectedMs: z.number().optional(),
  ranMs: z.number().optional(),
  awakeMs: z.number().optional(),
  /** The day of the last evaluation of what changes by the day. */
  dayMs: z.number().optional(),
})

type InsightWorld = Pick<World, 'clock' | 'deployment' | 'events' | 'ids' | 'log' | 'meta'>

/** Collects the counts of every full hour and evaluates them, for all organizations. A clock that jumped is not trusted at once. */
export const insightEvaluation = (world: InsightWorld): JobKind => ({
  name: KIND,
  everyMs: EVERY_MS,
  run: async (job) => {
    const nowMs = world.clock.nowMs()
    const { reading, isTrusted } = readClock(readingOf(job.payload.reading), nowMs, world.clock.report?.())
    const before = State.catch({}).parse(job.payload)
    const isAwake = before.ranMs !== undefined && before.awakeMs !== undefined && Math.abs(nowMs - before.ranMs) <= PAUSE_MS
    const state = { ...before, ranMs: nowMs, awakeMs: isAwake ? before.awakeMs : nowMs, reading }
    const endMs = Math.floor((nowMs - SETTLED_MS) / HOUR_MS) * HOUR_MS
    const collectedMs = collectedBefore(before.collectedMs, endMs)
    if (!isTrusted || collectedMs >= endMs) return { againInMs: EVERY_MS, payload: state }
    const write: Write = (work) =>
      world.meta.write('*', async (tx) => {
        await job.hold(tx)
        return work(tx)
      })
    const untilMs = Math.min(endMs, collectedMs + CATCH_UP_HOURS * HOUR_MS)
    await collectUntil(world, write, { job, collectedMs, untilMs, nowMs })
    if (untilMs < endMs) return { againInMs: 0, payload: { ...state, collectedMs: untilMs } }
    const hourMs = endMs - HOUR_MS
    await tidyCounters(write, hourMs)
    const dayMs = Math.floor(hourMs / (24 * HOUR_MS))
    const hour = { hourMs, awakeMs: state.awakeMs ?? nowMs, isDaily: before.dayMs !== dayMs }
    for (const { id } of await selectOrganizations(world.meta)) {
      job.signal.throwIfAborted()
      // One organization must not keep the others from their insights.
      await evaluateOrganization(world, write, id, hour).catch((err) => {
        job.signal.throwIfAborted()
        world.log.warn({ err, org_id: id }, 'insights of an organization could not be evaluated')
      })
    }
    return { againInMs: EVERY_MS, payload: { ...state, collectedMs: endMs, dayMs } }
  },
})

/** At most four weeks are read. A time after now was written while a clock was wrong. */
function collectedBefore(collectedMs: number | undefined, endMs: number): number {
  const firstMs = endMs - KEPT_MS
  return collectedMs === undefined || collectedMs > endMs + HOUR_MS ? firstMs : Math.max(firstMs, Math.min(collectedMs, endMs))
}

async function collectUntil(
  world: InsightWorld,
  write: Write,
  { job, collectedMs, untilMs, nowMs }: { job: JobRun; collectedMs: number; untilMs: number; nowMs: number },
): Promise<void> {
  for (let fromMs = collectedMs; fromMs < untilMs; fromMs += HOURS_AT_ONCE * HOUR_MS) {
    job.signal.throwIfAborted()
    const toMs = Math.min(untilMs, fromMs + HOURS_AT_ONCE * HOUR_MS)
    await collectHours(world, write, { fromMs: fromMs - REPEATED_MS, toMs, freshMs: fromMs, nowMs })
  }
}
