import type { JobContinuation, JobKind, JobRun } from '../../../jobs/job.ts'
import { Failure } from '../../../kernel/errors.ts'
import { arrivalOfSeq } from '../../../kernel/sequence-time.ts'
import { DeliveryError } from '../../../outgoing/outgoing.ts'
import { type BuiltPayload, buildPayload, limitsOf, planPayload, sendPayload, shapeOf } from './deliver.ts'
import type { DestinationSecrets } from './destinations.ts'
import { type ForwardedEvents, type ForwardWorld, type NumberRange, openForwardedEvents } from './events.ts'
import { type DeliveryRow, deleteConfig, type ForwardConfigRow, selectConfig, selectDelivery, updateDelivery } from './rows.ts'
import { openSecrets } from './secrets.ts'
import { afterDelivery, afterFailure, type DeliveryState, isPayloadDue, lostOf, type PlannedPayload, retryInMs } from './state.ts'

export const FORWARDING = 'forwarding'

/** How often waiting events are counted. */
const EVERY_MS = 5_000
/** How long one config may work before others continue. */
const STEP_MS = 5_000
/** How long a deleted config tries to deliver the events that arrived before. */
const ENDING_MS = 3_600_000

/** Delivers the events of each forward config, in steps of a few seconds. A config is delivered until it is deleted, so its job is never given up. */
export const forwarding = (world: ForwardWorld): JobKind => ({
  name: FORWARDING,
  triesMax: Number.POSITIVE_INFINITY,
  run: (job) => runForwarding(world, job),
})

type Work = {
  readonly world: ForwardWorld
  readonly job: JobRun
  readonly config: ForwardConfigRow
  readonly source: ForwardedEvents
  readonly secrets: DestinationSecrets
  delivery: DeliveryRow
}

async function runForwarding(world: ForwardWorld, job: JobRun): Promise<JobContinuation | undefined> {
  const [orgId, id] = [job.orgId ?? '', String(job.payload.config_id)]
  const [config, delivery] = await Promise.all([selectConfig(world.meta, orgId, id), selectDelivery(world.meta, orgId, id)])
  if (!config || !delivery) return undefined
  const source = await openForwardedEvents(world, config, Number(job.payload.org_number), job.signal)
  const work: Work = { world, job, config, source, secrets: await openSecrets(world, world.meta, config), delivery }
  try {
    return await deliver(work)
  } catch (thrown) {
    if (job.signal.aborted) throw thrown
    const isExpected = thrown instanceof DeliveryError || thrown instanceof Failure
    world.log[isExpected ? 'debug' : 'warn']({ err: thrown, config_id: id }, 'a payload could not be delivered yet')
    return await recordFailure(work, isExpected ? thrown.message : 'the service itself failed; its log says why')
  }
}

async function deliver(work: Work): Promise<JobContinuation | undefined> {
  const { world, job, config } = work
  const untilMs = world.clock.monotonicMs() + STEP_MS
  while (world.clock.monotonicMs() < untilMs) {
    job.signal.throwIfAborted()
    if (work.delivery.payload) {
      await deliverPlanned(work, work.delivery.payload)
      continue
    }
    const range = await openRange(work)
    if (!range) return { againInMs: EVERY_MS }
    const isDelivered = await deliverNext(work, range)
    if (isDelivered) continue
    if (config.ends_at === null) return { againInMs: EVERY_MS }
    if (range.before <= BigInt(config.ends_at)) return { againInMs: EVERY_MS }
    return end(work)
  }
  return { againInMs: 0 }
}

/** The events that can be delivered now; undefined while that is unknown. */
async function openRange({ world, config, delivery }: Work): Promise<NumberRange | undefined> {
  const below = await world.writer.settled.below()
  if (below === undefined) return undefined
  const after = BigInt(delivery.position)
  const last = config.ends_at === null ? undefined : BigInt(config.ends_at) + 1n
  const before = last !== undefined && last < below ? last : below
  return { after, before: before > after ? before : after + 1n }
}

/** Delivers one payload if enough events wait for it. */
async function deliverNext(work: Work, range: NumberRange): Promise<boolean> {
  const { world, config, source } = work
  const nowMs = world.clock.nowMs()
  const { count } = await source.count(range)
  const { buffered_since, ...state } = work.delivery.state
  if (count === 0) {
    if (buffered_since !== undefined || state.failures > 0 || isFar(work.delivery, range)) {
      const lost = lostOf(state, 0)
      const idle = afterDelivery({ ...state, lost_events: state.lost_events + lost }, NONE, nowMs)
      await save(work, { position: String(range.before - 1n), payload: null, state: idle })
    }
    return false
  }
  const isEnding = config.ends_at !== null
  if (!isEnding && !isPayloadDue(config, count, work.delivery.state, nowMs)) {
    if (buffered_since === undefined) await save(work, { state: { ...state, buffered_since: nowMs } })
    return false
  }
  const built = await buildPayload(source, range, shapeOf(config), limitsOf(config))
  if (built.events === 0) {
    await save(work, { position: String(built.to), payload: null, state: afterDelivery(await countLost(work), NONE, nowMs) })
    return true
  }
  const planned = planPayload(config, source, range.after, built)
  await save(work, { payload: planned })
  await sendAndSave(work, planned, built)
  return true
}

const NONE = { events: 0, payloads: 0, bytes: 0 }
/** A position is saved without events now and then: what it passed is counted no more. */
const FAR_NUMBERS = 60_000_000_000n

const isFar = ({ position }: DeliveryRow, { before }: NumberRange): boolean => before - BigInt(position) > FAR_NUMBERS

/** Repeats a payload that was planned before, with the same events. */
async function deliverPlanned(work: Work, planned: PlannedPayload): Promise<void> {
  const range = { after: BigInt(planned.after), before: BigInt(planned.to) + 1n }
  const unlimited = { bytes: Number.POSITIVE_INFINITY, events: Number.POSITIVE_INFINITY }
  await sendAndSave(work, planned, await buildPayload(work.source, range, planned, unlimited))
}

async function sendAndSave(work: Work, planned: PlannedPayload, built: BuiltPayload): Promise<void> {
  const { world, job, config, secrets } = work
  const state = await countLost(work)
  // Events can be deleted between two attempts.
  const delivered =
    built.events === 0 ? NONE : await sendPayload(world, config, secrets, { planned, built, source: work.source, signal: job.signal })
  await save(work, { position: planned.to, payload: null, state: afterDelivery(state, delivered, world.clock.nowMs()) })
}

/** Counts the events that were deleted since the last failed attempt. */
async function countLost({ source, delivery: { position, state } }: Work): Promise<DeliveryState> {
  const { waiting, ...rest } = state
  if (!waiting) return state
  const now = await source.count({ after: BigInt(position), before: BigInt(waiting.to) + 1n })
  return { ...rest, lost_events: state.lost_events + lostOf(state, now.count) }
}

async function recordFailure(work: Work, message: string): Promise<JobContinuation | undefined> {
  const { world, config, source } = work
  const nowMs = world.clock.nowMs()
  const counted = await countLost(work).catch(() => undefined)
  const range = counted && (await openRange(work).catch(() => undefined))
  const count = range && (await source.count(range).catch(() => undefined))
  const oldest = count?.lowest === undefined ? {} : { oldest_at: arrivalOfSeq(count.lowest) }
  const waiting = range && count ? { to: String(range.before - 1n), events: count.count, ...oldest } : undefined
  const state = afterFailure(waiting ? (counted ?? work.delivery.state) : work.delivery.state, message, waiting, nowMs)
  if (config.ends_at !== null && nowMs - config.modified_at > ENDING_MS) {
    world.log.error(
      { config_id: config.id, org_id: config.org_id, events: state.waiting?.events },
      'a deleted forward config could not deliver its last events',
    )
    return end(work)
  }
  await save(work, { state })
  return { againInMs: retryInMs(state.failures) }
}

/** Saves the progress, unless another process holds the job. */
async function save(work: Work, change: Partial<Pick<DeliveryRow, 'position' | 'payload' | 'state'>>): Promise<void> {
  const { world, job, config } = work
  work.delivery = { ...work.delivery, ...change }
  await world.meta.write(config.org_id, async (tx) => {
    await job.hold(tx)
    await updateDelivery(tx, config.org_id, work.delivery)
  })
}

async function end({ world, job, config }: Work): Promise<undefined> {
  await world.meta.write(config.org_id, async (tx) => {
    await job.hold(tx)
    await deleteConfig(tx, config.org_id, config.id)
  })
}
