import { createHash } from 'node:crypto'
import type { JobKind, JobRun } from '../../../jobs/job.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { needsBriefing, prepareBriefing, wantsReport } from './briefing.ts'
import { channels, type DeliveryOutcome, type OutgoingNotification, sendMail } from './channels.ts'
import { contentOf } from './content.ts'
import { digestFor } from './mail-body.ts'
import { resultOfTry } from './retries.ts'
import {
  beginTry,
  deleteUnreferenced,
  type NotificationRow,
  saveBriefing,
  saveReport,
  selectDue,
  selectDueMails,
  selectNextDue,
  storeTryResult,
} from './rows.ts'

const KIND = 'notification_delivery'
const EVERY_MS = 5_000
/** How often new notifications are picked up while others are being sent. */
const POLL_MS = 250
/** More due e-mails to one address than this are merged into one. */
const DIGEST_OVER = 20
const DIGEST_MAX = 1_000
const PER_TARGET = DIGEST_OVER + 1
const PER_ORGANIZATION = 400
/** Receivers served concurrently, each on its own: a hanging receiver delays only its own notifications. */
const TARGETS_MAX = 64
/** The share of one organization, so that its hanging receivers do not delay others. */
const ORGANIZATION_TARGETS_MAX = 16
const BRIEFINGS_MAX = 4
/** How long a stop waits for running deliveries. */
const GRACE_MS = 4_000
/** Not an organization: deliveries change no cached rows, so no cache needs to be invalidated. */
const NO_ORGANIZATION = 'notifications'

/**
 * Sends queued notifications. One process holds the job by lease; when it dies another continues and repeats an interrupted try under the
 * same id.
 */
export const notificationDelivery = (world: World): JobKind => ({
  name: KIND,
  everyMs: EVERY_MS,
  isDueAtStart: true,
  run: async (job) => {
    await deliverDue(world, job)
    const next = (await selectNextDue(world.meta))?.due
    return { againInMs: Math.min(EVERY_MS, Math.max(0, (next ?? Number.POSITIVE_INFINITY) - world.clock.nowMs())) }
  },
})

/** Makes the delivery job due when the transaction commits. */
export const wakeDelivery = (world: Pick<World, 'clock' | 'ids'>, tx: Db): Promise<void> =>
  enqueue(world, tx, { kind: KIND, key: '', orgId: undefined, payload: {} })

type HeldJob = Pick<JobRun, 'hold' | 'signal'>

/** Delivers until nothing is due. */
async function deliverDue(world: World, job: HeldJob): Promise<void> {
  const sending = new Map<string, Promise<void>>()
  const briefing = new Map<string, Promise<void>>()
  const grace = graceAfter(world, job.signal)
  let failure: unknown
  const start = (running: Map<string, Promise<void>>, name: string, work: Promise<void>): void => {
    const ended = work
      .catch((cause: unknown) => {
        failure ??= cause
      })
      .finally(() => running.delete(name))
    running.set(name, ended)
  }
  while (!job.signal.aborted && failure === undefined) {
    const due = await selectDue(world.meta, { nowMs: world.clock.nowMs(), perTarget: PER_TARGET, perOrganization: PER_ORGANIZATION })
    for (const [name, rows] of byName(due.filter(isBriefed), targetName)) {
      if (!sending.has(name) && hasCapacity(sending, name)) start(sending, name, sendAll(world, job, rows, grace.signal))
    }
    for (const [name, [row]] of byName(
      due.filter((each) => !isBriefed(each)),
      occasionName,
    )) {
      if (row && !briefing.has(name) && briefing.size < BRIEFINGS_MAX) start(briefing, name, prepareOne(world, job, row, grace.signal))
    }
    const running = [...sending.values(), ...briefing.values()]
    if (running.length === 0) break
    await Promise.race([...running, world.clock.sleep(POLL_MS, job.signal).catch(() => undefined)])
  }
  await Promise.all([...sending.values(), ...briefing.values()])
  grace.over()
  if (failure !== undefined && !job.signal.aborted) throw failure
}

const isBriefed = (row: NotificationRow): boolean => row.briefing !== null || !needsBriefing(row)
const targetName = ({ org_id, type, integration_id, destination }: NotificationRow): string =>
  JSON.stringify([org_id, type, integration_id, destination])
/** Occasions that share a report are prepared one after the other, so that it is created once. */
const occasionName = (row: NotificationRow): string =>
  wantsReport(row) ? (row.event_id ?? '') : JSON.stringify([row.org_id, row.alert_id, row.group_id, row.time])

function hasCapacity(sending: ReadonlyMap<string, unknown>, name: string): boolean {
  const [orgId] = JSON.parse(name)
  const own = [...sending.keys()].filter((other) => JSON.parse(other)[0] === orgId)
  return sending.size < TARGETS_MAX && own.length < ORGANIZATION_TARGETS_MAX
}

function byName(rows: readonly NotificationRow[], nameOf: (row: NotificationRow) => string): Map<string, NotificationRow[]> {
  const named = new Map<string, NotificationRow[]>()
  for (const row of rows) named.set(nameOf(row), [...(named.get(nameOf(row)) ?? []), row])
  return named
}

/** Aborts GRACE_MS after the signal, unless everything has ended before. */
function graceAfter({ clock }: Pick<World, 'clock'>, signal: AbortSignal): { signal: AbortSignal; over(): void } {
  const ending = new AbortController()
  const isOver = new AbortController()
  const wait = (): void => {
    clock.sleep(GRACE_MS, isOver.signal).then(
      () => ending.abort(signal.reason),
      () => undefined,
    )
  }
  if (signal.aborted) wait()
  else signal.addEventListener('abort', wait, { once: true })
  return {
    signal: ending.signal,
    over: () => {
      isOver.abort()
      signal.removeEventListener('abort', wait)
    },
  }
}

async function prepareOne(world: World, job: HeldJob, row: NotificationRow, signal: AbortSignal): Promise<void> {
  const found = await prepareBriefing(world, row, signal)
  await world.meta.write(NO_ORGANIZATION, async (tx) => {
    await job.hold(tx)
    await saveBriefing(tx, row, found)
    if (row.event_id !== null && found.report !== undefined) await saveReport(tx, row.org_id, row.event_id, found.report)
  })
}

async function sendAll(world: World, job: HeldJob, rows: readonly NotificationRow[], signal: AbortSignal): Promise<void> {
  const [first] = rows
  if (first?.type === 'EMAIL' && rows.length > DIGEST_OVER) return sendDigest(world, job, first, signal)
  for (const row of rows) {
    // A failing receiver yields to others after each try.
    if (job.signal.aborted || !(await sendOne(world, job, row, signal))) return
  }
}

/**
 * Counts the try, makes it and stores its result; a try that is interrupted is repeated under the same id. Returns false if the receiver
 * needs a retry.
 */
async function sendOne(world: World, job: HeldJob, row: NotificationRow, signal: AbortSignal): Promise<boolean> {
  const [begun] = await world.meta.write(NO_ORGANIZATION, async (tx) => {
    await job.hold(tx)
    return beginTry(tx, row.org_id, [row])
  })
  if (!begun) return true
  const outcome = await channels[row.type](world, outgoingOf(world, row, begun.attempts), signal).catch(
    (cause: unknown): DeliveryOutcome => {
      if (signal.aborted || (cause instanceof Failure && cause.status === 503)) throw cause
      // A defect of one notification, such as a secret that cannot be decrypted, must not block the others.
      world.log.error({ err: cause, notification_id: row.id }, 'a notification could not be prepared')
      return { kind: 'again', reason: 'the service could not make the message' }
    },
  )
  if (outcome.kind !== 'sent') {
    world.log.warn(
      { notification_id: row.id, type: row.type, attempt: begun.attempts, reason: outcome.reason },
      'a notification was not delivered',
    )
  }
  await settle(world, job, [row], { outcome, attempt: begun.attempts })
  return outcome.kind !== 'again'
}

/** Merges all due mails to an address into one. Its id is a hash of theirs, so that a receiver can detect a duplicate. */
async function sendDigest(world: World, job: HeldJob, first: NotificationRow, signal: AbortSignal): Promise<void> {
  const due = await selectDueMails(world.meta, first, world.clock.nowMs(), DIGEST_MAX)
  const begun = await world.meta.write(NO_ORGANIZATION, async (tx) => {
    await job.hold(tx)
    return due.length === 0 ? [] : beginTry(tx, first.org_id, due)
  })
  const rows = due.filter(({ id }) => begun.some((one) => one.id === id))
  if (rows.length === 0) return
  const id = createHash('sha256')
    .update(rows.map((row) => row.id).join())
    .digest('hex')
  const content = rows.map((row) => contentOf(world, row))
  const outcome = await sendMail(world, { ...digestFor(first.destination, content), id }, signal)
  await settle(world, job, rows, { outcome, attempt: Math.max(...begun.map(({ attempts }) => attempts)) })
}

async function settle(
  world: World,
  job: HeldJob,
  rows: readonly NotificationRow[],
  { outcome, attempt }: { outcome: DeliveryOutcome; attempt: number },
): Promise<void> {
  const [first] = rows
  if (!first) return
  const tried = { type: first.type, attempt, timeMs: first.time, nowMs: world.clock.nowMs() }
  await world.meta.write(NO_ORGANIZATION, async (tx) => {
    await job.hold(tx)
    await storeTryResult(tx, first.org_id, rows, resultOfTry(outcome, tried))
    await deleteUnreferenced(tx, first.org_id, rows)
  })
}

function outgoingOf(world: Pick<World, 'deployment'>, row: NotificationRow, attempt: number): OutgoingNotification {
  const { org_id, type, destination, integration_id, id } = row
  const target = { type, destination, ...(integration_id === null ? {} : { integration_id }) }
  return { orgId: org_id, target, delivery: { id, attempt }, content: contentOf(world, row) }
}
