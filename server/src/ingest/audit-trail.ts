import { storedDays } from '../events/writer/idempotency-rows.ts'
import { seqAt } from '../events/writer/seq.ts'
import { type Actor, factsOfWork } from '../http/actor.ts'
import { toJson } from '../kernel/exact-json.ts'
import { AUDIT_COLLECTION, type DueRow, markEventsWritten, recordsDueAsEvents } from '../resources/access/audit/audit.ts'
import { Heartbeats } from '../resources/data/datasets/datasets.ts'
import type { World } from '../world.ts'
import { idempotencyKeyOf, idempotencyNumber } from './intake/idempotency-key.ts'
import { openOwnEvents, serviceActor } from './own-events.ts'
import { native } from './receivers/native/native.ts'

type Deps = Pick<World, 'clock' | 'events' | 'ids' | 'ledger' | 'log' | 'meta' | 'writer'>

/** The part of a job kind that this job has. */
type AuditTrailJob = { name: string; everyMs: number; isDueAtStart: boolean; run(): Promise<{ againInMs: number }> }

const EVERY_MS = 2_000
const RECORDS_AT_ONCE = 200
/** The store surely remembers idempotency keys for this long. */
const REMEMBERED_MS = 30 * 60_000
/** Bounds the difference between the clocks of two servers. */
const CLOCK_SKEW_MS = 10 * 60_000
const DAY_MS = 86_400_000

/**
 * Stores every audit record once as an event of the system dataset `.audit-trail`. Each record is a separate request with its id as
 * idempotency key. After a crash, the next run finds the event by this key, or later by a query.
 */
export function auditTrail(world: Deps): AuditTrailJob {
  const beats = new Heartbeats(world)
  const storeEvent = openOwnEvents(world, (logId, nowMs) => beats.beat(logId, nowMs))
  return {
    name: 'audit_trail',
    everyMs: EVERY_MS,
    isDueAtStart: true,
    run: async () => {
      const due = await recordsDueAsEvents(world, RECORDS_AT_ONCE)
      if (due.length === 0) return { againInMs: EVERY_MS }
      const stored = await storedAlready(world, due)
      const results = await Promise.allSettled(
        due.filter(({ id }) => !stored.has(id)).map((record) => store(record).then(() => stored.add(record.id))),
      )
      // Recorded regardless of the lease: the events are stored, whichever process records it.
      await markEventsWritten(world, [...stored])
      await beats.flush()
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
      return { againInMs: due.length < RECORDS_AT_ONCE ? EVERY_MS : 0 }
    },
  }

  async function store(record: DueRow): Promise<void> {
    const place = { collection: AUDIT_COLLECTION, dataset: 'audit-trail' }
    const outcome = await storeEvent({ actor: writerOf(record), key: record.id, ...place, json: toJson(eventOf(record)) })
    if (outcome.kind !== 'stored' || outcome.total !== 1 || outcome.rejected.length > 0)
      throw new Error(`the audit record ${record.id} was not stored`)
  }
}

/** Queries the events of records so old that the store may have forgotten their idempotency keys. */
async function storedAlready({ events, clock }: Pick<World, 'events' | 'clock'>, due: readonly DueRow[]): Promise<Set<string>> {
  const old = due.filter(({ time }) => time < clock.nowMs() - REMEMBERED_MS)
  const [first] = old
  if (!first) return new Set()
  const byPost = new Map(old.map((record) => [postOf(record), record.id]))
  const wanted = {
    logIds: [...new Set(old.map(({ log_id }) => log_id))],
    posts: [...byPost.keys()],
    days: [...new Set(old.map(({ time }) => Math.floor(time / DAY_MS)))],
  }
  const found = await storedDays(events.writer, wanted, seqAt(first.time - CLOCK_SKEW_MS))
  return new Set(found.flatMap(({ post }) => byPost.get(post) ?? []))
}

const postOf = (record: DueRow): bigint =>
  idempotencyNumber(idempotencyKeyOf(writerOf(record), native.name, record.id, undefined), record.log_id)

const writerOf = ({ org_id, org_number, address, correlation_id }: DueRow): Actor =>
  serviceActor(org_id, org_number, { ...factsOfWork('audit-trail'), correlationId: correlation_id, address })

/** A record in the form in which people search for it. Its before and after values have their own keys. */
const eventOf = ({ id, time, actor, actor_name, action, outcome, entity_type, entity_id, ...record }: DueRow): object => ({
  timestamp: new Date(time).toISOString(),
  level: outcome === 'done' ? 'info' : 'warn',
  message: `${actor_name} ${outcome === 'done' ? 'did' : 'was refused'} ${action} on ${entity_type} ${entity_id}`,
  audit_id: id,
  actor_type: actor?.type ?? null,
  actor_id: actor?.id ?? null,
  actor_name,
  address: record.address,
  user_agent: record.user_agent,
  action,
  outcome,
  entity_type,
  entity_id,
  ...(record.before ? { before: record.before } : {}),
  ...(record.after ? { after: record.after } : {}),
  correlation_id: record.correlation_id,
})
