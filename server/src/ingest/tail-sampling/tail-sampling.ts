import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { Actor } from '../../http/actor.ts'
import { factsOfWork } from '../../http/actor.ts'
import { type TraceFacts, unpackFacts } from '../../ingest-rules/trace-facts.ts'
import type { JobContinuation, JobKind, JobRun } from '../../jobs/job.ts'
import { Failure } from '../../kernel/errors.ts'
import { allDatasets, type DatasetRow } from '../../resources/data/datasets/datasets.ts'
import { selectHasRule } from '../../resources/data/ingest-rules/ingest-rules.ts'
import {
  type DueSpansRow,
  decideTraces,
  deleteOldDecisions,
  endSpans,
  insertDecisions,
  planSpans,
  postponeSpans,
  removeEndedSpans,
  selectBody,
  selectDueOrganizations,
  selectDueSpans,
  selectIsWaiting,
} from '../../resources/data/waiting-spans/waiting-spans.ts'
import type { World } from '../../world.ts'
import type { Intake } from '../intake/intake.ts'
import { mayPass } from '../listeners/access.ts'
import { type SampledQuery, sampled } from '../receivers/sampled/sampled.ts'

type SamplingWorld = Pick<World, 'clock' | 'log' | 'meta' | 'ledger'> & { intake: Pick<Intake, 'storeMessages'> }

const EVERY_MS = 1_000
/** How often it is looked while no span waits and no rule lets spans wait. The first spans of a new rule wait this much longer at most. */
const IDLE_MS = 10_000
/** The wait while kept spans cannot be stored. */
const STUCK_MS = 5_000
/** How many posts of an organization are decided at once, before others take their turn. */
const AT_ONCE = { posts: 200, events: 100_000 }
/** How long the spans of a dataset wait whose limit is reached. */
const LIMITED_MS = 60_000
const STORED_AT_ONCE = 4
/** How long late spans follow a decision, and repeated posts are recognized. */
const REMEMBERED_MS = 3_600_000
const REMOVE_EVERY_MS = 60_000

const decompress = promisify(zstdDecompress)

/**
 * Decides which traces are stored, once their spans have waited, and stores those spans. A decision is saved before a span follows it, and a post is
 * stored under one key until it is ended, so that a run that dies is finished by the next one.
 */
export function tailSampling(world: SamplingWorld): JobKind {
  const { meta, clock } = world
  let removedMs = Number.NEGATIVE_INFINITY
  return {
    name: 'tail_sampling',
    everyMs: IDLE_MS,
    isDueAtStart: true,
    run: async (job) => {
      const continuation = await decideDue(world, job)
      const nowMs = clock.nowMs()
      if (Math.abs(nowMs - removedMs) >= REMOVE_EVERY_MS) {
        await removeEndedSpans(meta, nowMs - REMEMBERED_MS)
        await deleteOldDecisions(meta, nowMs - REMEMBERED_MS)
        removedMs = nowMs
      }
      return continuation
    },
  }
}

async function decideDue(world: SamplingWorld, job: JobRun): Promise<JobContinuation> {
  const { meta, clock } = world
  const nowMs = clock.nowMs()
  let [isMore, isStuck] = [false, false]
  const organizations = await selectDueOrganizations(meta, nowMs)
  if (organizations.length === 0 && !(await selectHasRule(meta, 'TAIL_SAMPLE')) && !(await selectIsWaiting(meta))) {
    return { againInMs: IDLE_MS }
  }
  for (const { org_id } of organizations) {
    const due = await selectDueSpans(meta, org_id, nowMs, AT_ONCE)
    if (due.length === 0) continue
    const weights = await decide(world, job, org_id, due)
    const isStored = await storeAll(world, job, due, weights)
    isStuck ||= !isStored
    isMore ||= isStored && (due.length === AT_ONCE.posts || due.reduce((sum, { events }) => sum + events, 0) >= AT_ONCE.events)
  }
  return { againInMs: isStuck ? STUCK_MS : isMore ? 0 : EVERY_MS }
}

async function decide(
  { meta, clock }: SamplingWorld,
  job: JobRun,
  orgId: string,
  due: readonly DueSpansRow[],
): Promise<ReadonlyMap<string, number>> {
  return meta.write(orgId, async (tx) => {
    await job.hold(tx)
    const { weights, fresh } = await decideTraces(tx, orgId, due)
    const nowMs = clock.nowMs()
    if (fresh.length > 0) await insertDecisions(tx, orgId, fresh, nowMs)
    await planSpans(
      tx,
      orgId,
      due.map(({ id }) => id),
      nowMs,
    )
    return weights
  })
}

/** Returns false if some posts have to wait for another run, as while the store accepts no events or a limit is reached. */
async function storeAll(
  world: SamplingWorld,
  job: JobRun,
  due: readonly DueSpansRow[],
  weights: ReadonlyMap<string, number>,
): Promise<boolean> {
  const orgId = due[0]?.org_id ?? ''
  const datasets = new Map((await allDatasets(world, orgId)).map((row) => [row.id, row]))
  const open = [...due]
  let isAll = true
  const work = async (): Promise<void> => {
    for (let row = open.shift(); row && isAll; row = open.shift()) {
      job.signal.throwIfAborted()
      try {
        await endPost(world, job, row, datasets.get(row.log_id), weights)
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown
        world.log.warn({ err: thrown, org_id: orgId }, 'spans that are kept cannot be stored now')
        if (thrown.status === 429) await postpone(world, row, open)
        else isAll = false
      }
    }
  }
  const results = await Promise.allSettled(Array.from({ length: STORED_AT_ONCE }, work))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  return isAll
}

/** A limit of one dataset does not keep the others waiting. */
async function postpone({ meta, clock }: SamplingWorld, { org_id, log_id }: DueSpansRow, open: DueSpansRow[]): Promise<void> {
  const nowMs = clock.nowMs()
  await postponeSpans(meta, org_id, log_id, nowMs, nowMs + LIMITED_MS)
  open.splice(0, open.length, ...open.filter((row) => row.log_id !== log_id))
}

/** Stores the kept spans of a post, and then accounts for the others. Those of a dataset that was deleted meanwhile are deleted with it. */
async function endPost(
  world: SamplingWorld,
  job: JobRun,
  row: DueSpansRow,
  dataset: DatasetRow | undefined,
  weights: ReadonlyMap<string, number>,
): Promise<void> {
  const { meta, clock } = world
  const traces = [...unpackFacts(row.traces)]
  const weightOf = (id: string): number => weights.get(id) ?? 0
  if (dataset && traces.some(([id]) => weightOf(id) > 0)) {
    await storeKept(
      world,
      row,
      dataset,
      traces.map(([id]) => weightOf(id)),
    )
  }
  const ended = await meta.write(row.org_id, async (tx) => {
    await job.hold(tx)
    return endSpans(tx, row.org_id, row.id, clock.nowMs())
  })
  if (ended === 0) return
  noteDropped(
    world,
    row,
    traces.filter(([id]) => !dataset || weightOf(id) === 0).map(([, facts]) => facts),
  )
}

async function storeKept(
  world: SamplingWorld,
  row: DueSpansRow,
  { collection, dataset }: DatasetRow,
  weights: readonly number[],
): Promise<void> {
  const packed = await selectBody(world.meta, row.org_id, row.id)
  if (!packed) return
  const body = Uint8Array.from(await decompress(packed, { maxOutputLength: row.body_bytes }))
  const query: SampledQuery = { collection, dataset, weights }
  const isLost = (failure: Failure): boolean => !mayPass(failure) && failure.status !== 422
  try {
    const { outcome } = await world.intake.storeMessages({
      actor: senderOf(row),
      parser: sampled,
      routing: { collection, dataset, tags: row.sender.tags },
      request: {
        ...{ path: '', query: { sampled: JSON.stringify(query) }, contentType: 'application/json', body },
        headers: { 'idempotency-key': `tail/${row.id}` },
      },
      wireBytes: 0,
      isLost,
      mayBeStoredSinceMs: row.planned_at ?? undefined,
      waited: { protocol: row.sender.protocol, after: row.rule_position },
    })
    if (outcome.kind === 'refused') throw outcome.failure
  } catch (thrown) {
    // With 422 the spans were stored before, and rules have changed since. What can never be stored is in the ledger as rejected.
    if (thrown instanceof Failure && (thrown.status === 422 || isLost(thrown))) return
    throw thrown
  }
}

/** Whoever sent the spans. */
const senderOf = ({ org_id, sender: { orgNumber, identity, name, address, userAgent } }: DueSpansRow): Actor => ({
  ...{ orgId: org_id, orgNumber, identity, name, roles: [], permissions: new Set(['events_write'] as const) },
  facts: { ...factsOfWork('spans.sample'), address, userAgent },
})

function noteDropped({ ledger }: SamplingWorld, { log_id, rule_id, sender }: DueSpansRow, facts: readonly TraceFacts[]): void {
  const dropped = facts.reduce((sum, { spans }) => sum + spans, 0)
  if (dropped === 0) return
  const { orgNumber, identity, protocol } = sender
  const droppedBytes = facts.reduce((sum, { bytes }) => sum + bytes, 0)
  const nothing = { stored: [], duplicate: 0, rejected: {}, truncated: 0, late: 0, wireBytes: 0, rawBytes: 0 }
  ledger.note({
    orgNumber,
    logId: log_id,
    identity,
    protocol,
    ...nothing,
    received: dropped,
    dropped,
    droppedBytes,
    rules: new Map([[rule_id, dropped]]),
  })
}
