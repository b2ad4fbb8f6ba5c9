import { createHash } from 'node:crypto'
import type { Job, JobKind } from '../../../jobs/job.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { brief, wantsBriefing, wantsReport } from './briefing.ts'
import { channels, mailed, type Outcome, type Parcel } from './channels.ts'
import { toldOf } from './history.ts'
import { digestFor } from './mail-body.ts'
import { settledBy } from './retries.ts'
import {
  beginTry,
  deleteNobodys,
  type NotificationRow,
  saveBriefing,
  saveReport,
  selectDue,
  selectDueMails,
  selectNextDue,
  settleTry,
} from './rows.ts'

const KIND = 'notification_delivery'
const EVERY_MS = 5_000
/** LOOK_MS is how long new notifications wait while others are under way. */
const LOOK_MS = 250
/** DIGEST_OVER is how many e-mails to one address may be due before they become one. */
const DIGEST_OVER = 20
const DIGEST_MAX = 1_000
const PER_TARGET = DIGEST_OVER + 1
const PER_ORGANIZATION = 400
/** TARGETS_MAX are served at once, each by itself: one that hangs keeps only its own waiting. */
const TARGETS_MAX = 64
/** ORGANIZATION_TARGETS_MAX of them may be of one organisation: one whose targets all hang keeps no other waiting. */
const ORGANIZATION_TARGETS_MAX = 16
const BRIEFINGS_MAX = 4
/** GRACE_MS is how long a stop lets what is under way end by itself. */
const GRACE_MS = 5_000
/** UNSHARED is not the name of an organisation: what senders write down is nothing that anybody remembers, so nothing is to be forgotten. */
const UNSHARED = 'notifications'

/**
 * notificationDelivery sends what is written down to be sent. One process holds the work by lease; when it dies another goes on, and a try that
 * was under way is made again under the same id.
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

/** wakeDelivery makes senders look at once for what the transaction writes down. */
export const wakeDelivery = (world: Pick<World, 'clock' | 'ids'>, tx: Db): Promise<void> =>
  enqueue(world, tx, { kind: KIND, key: '', orgId: undefined, payload: {} })

type Holder = Pick<Job, 'hold' | 'signal'>

/** deliverDue tries everything that is due, until nothing is. */
async function deliverDue(world: World, job: Holder): Promise<void> {
  const sending = new Map<string, Promise<void>>()
  const briefing = new Map<string, Promise<void>>()
  const grace = graceAfter(world, job.signal)
  let trouble: unknown
  const start = (under: Map<string, Promise<void>>, name: string, work: Promise<void>): void => {
    const ended = work
      .catch((cause: unknown) => {
        trouble ??= cause
      })
      .finally(() => under.delete(name))
    under.set(name, ended)
  }
  while (!job.signal.aborted && trouble === undefined) {
    const due = await selectDue(world.meta, { nowMs: world.clock.nowMs(), perTarget: PER_TARGET, perOrganization: PER_ORGANIZATION })
    for (const [name, rows] of byName(due.filter(isBriefed), targetName)) {
      if (!sending.has(name) && hasRoom(sending, name)) start(sending, name, sendAll(world, job, rows, grace.signal))
    }
    for (const [name, [row]] of byName(
      due.filter((each) => !isBriefed(each)),
      occasionName,
    )) {
      if (row && !briefing.has(name) && briefing.size < BRIEFINGS_MAX) start(briefing, name, briefOne(world, job, row, grace.signal))
    }
    const under = [...sending.values(), ...briefing.values()]
    if (under.length === 0) break
    await Promise.race([...under, world.clock.sleep(LOOK_MS, job.signal).catch(() => undefined)])
  }
  await Promise.all([...sending.values(), ...briefing.values()])
  grace.over()
  if (trouble !== undefined && !job.signal.aborted) throw trouble
}

const isBriefed = (row: NotificationRow): boolean => row.briefing !== null || !wantsBriefing(row)
const targetName = ({ org_id, type, integration_id, destination }: NotificationRow): string =>
  JSON.stringify([org_id, type, integration_id, destination])
/** Of the occasions that share a report one is looked at after the other, so that it is made once. */
const occasionName = (row: NotificationRow): string =>
  wantsReport(row) ? (row.event_id ?? '') : JSON.stringify([row.org_id, row.alert_id, row.group_id, row.time])

function hasRoom(sending: ReadonlyMap<string, unknown>, name: string): boolean {
  const [orgId] = JSON.parse(name)
  const own = [...sending.keys()].filter((other) => JSON.parse(other)[0] === orgId)
  return sending.size < TARGETS_MAX && own.length < ORGANIZATION_TARGETS_MAX
}

function byName(rows: readonly NotificationRow[], nameOf: (row: NotificationRow) => string): Map<string, NotificationRow[]> {
  const named = new Map<string, NotificationRow[]>()
  for (const row of rows) named.set(nameOf(row), [...(named.get(nameOf(row)) ?? []), row])
  return named
}

/** graceAfter ends some time after the signal did, unless all is over before. */
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

async function briefOne(world: World, job: Holder, row: NotificationRow, signal: AbortSignal): Promise<void> {
  const found = await brief(world, row, signal)
  await world.meta.write(UNSHARED, async (tx) => {
    await job.hold(tx)
    await saveBriefing(tx, row, found)
    if (row.event_id !== null && found.report !== undefined) await saveReport(tx, row.org_id, row.event_id, found.report)
  })
}

async function sendAll(world: World, job: Holder, rows: readonly NotificationRow[], signal: AbortSignal): Promise<void> {
  const [first] = rows
  if (first?.type === 'EMAIL' && rows.length > DIGEST_OVER) return sendDigest(world, job, first, signal)
  for (const row of rows) {
    // A target in trouble gives its place to others after each try.
    if (job.signal.aborted || !(await sendOne(world, job, row, signal))) return
  }
}

/** sendOne counts the try, makes it and writes down what became of it; ended in between, it is made again under the same id. It tells whether the target is well. */
async function sendOne(world: World, job: Holder, row: NotificationRow, signal: AbortSignal): Promise<boolean> {
  const [begun] = await world.meta.write(UNSHARED, async (tx) => {
    await job.hold(tx)
    return beginTry(tx, row.org_id, [row])
  })
  if (!begun) return true
  const outcome = await channels[row.type](world, parcelOf(world, row, begun.attempts), signal).catch((cause: unknown): Outcome => {
    if (signal.aborted || (cause instanceof Failure && cause.status === 503)) throw cause
    // What is wrong with one notification, such as a secret that cannot be opened, keeps no other waiting.
    world.log.error({ err: cause, notification_id: row.id }, 'a notification could not be made')
    return { kind: 'again', reason: 'the service could not make the message' }
  })
  if (outcome.kind !== 'sent') {
    world.log.warn(
      { notification_id: row.id, type: row.type, attempt: begun.attempts, reason: outcome.reason },
      'a notification was not delivered',
    )
  }
  await settle(world, job, [row], { outcome, attempt: begun.attempts })
  return outcome.kind !== 'again'
}

/** sendDigest makes one mail of all that are due to an address; its id is that of the set, so that a second copy can be told. */
async function sendDigest(world: World, job: Holder, first: NotificationRow, signal: AbortSignal): Promise<void> {
  const due = await selectDueMails(world.meta, first, world.clock.nowMs(), DIGEST_MAX)
  const begun = await world.meta.write(UNSHARED, async (tx) => {
    await job.hold(tx)
    return due.length === 0 ? [] : beginTry(tx, first.org_id, due)
  })
  const rows = due.filter(({ id }) => begun.some((one) => one.id === id))
  if (rows.length === 0) return
  const id = createHash('sha256')
    .update(rows.map((row) => row.id).join())
    .digest('hex')
  const told = rows.map((row) => toldOf(world, row))
  const outcome = await mailed(world, { ...digestFor(first.destination, told), id }, signal)
  await settle(world, job, rows, { outcome, attempt: Math.max(...begun.map(({ attempts }) => attempts)) })
}

async function settle(
  world: World,
  job: Holder,
  rows: readonly NotificationRow[],
  { outcome, attempt }: { outcome: Outcome; attempt: number },
): Promise<void> {
  const [first] = rows
  if (!first) return
  const tried = { type: first.type, attempt, timeMs: first.time, nowMs: world.clock.nowMs() }
  await world.meta.write(UNSHARED, async (tx) => {
    await job.hold(tx)
    await settleTry(tx, first.org_id, rows, settledBy(outcome, tried))
    await deleteNobodys(tx, first.org_id, rows)
  })
}

function parcelOf(world: Pick<World, 'deployment'>, row: NotificationRow, attempt: number): Parcel {
  const { org_id, type, destination, integration_id, id } = row
  const target = { type, destination, ...(integration_id === null ? {} : { integration_id }) }
  return { orgId: org_id, target, delivery: { id, attempt }, told: toldOf(world, row) }
}
