import { storedDays } from '../events/writer/idempotency-rows.ts'
import { seqAt } from '../events/writer/seq.ts'
import type { Actor } from '../http/actor.ts'
import { toJson } from '../kernel/exact-json.ts'
import { PeriodChoice } from '../lines/layout/periods.ts'
import { AUDIT_COLLECTION, type DueRow, markEventsWritten, recordsDueAsEvents } from '../resources/access/audit/audit.ts'
import { Heartbeats } from '../resources/data/datasets/datasets.ts'
import type { World } from '../world.ts'
import { openInlinePool } from './inline-pool.ts'
import { PostAccounting } from './intake/accounting.ts'
import { idempotencyKeyOf, idempotencyNumber } from './intake/idempotency-key.ts'
import type { IntakeWorld } from './intake/intake-world.ts'
import { storePost } from './intake/store.ts'
import { native } from './receivers/native/native.ts'

type Deps = Pick<World, 'clock' | 'events' | 'ids' | 'ledger' | 'log' | 'meta' | 'writer'>

/** The part of a job kind that this job has. */
type AuditTrailJob = { name: string; everyMs: number; isDueAtStart: boolean; run(): Promise<{ againInMs: number }> }

const EVERY_MS = 2_000
const RECORDS_AT_ONCE = 200
/** The protocol name in the ledger for events of the service itself. */
const OWN = 'dendro'
const NOBODY = '00000000-0000-0000-0000-000000000000'
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
  const pool = openInlinePool()
  const beats = new Heartbeats(world)
  const intake: IntakeWorld = {
    ...world,
    beat: (logId, nowMs) => beats.beat(logId, nowMs),
    parsed: () => undefined,
    // No limit of an organization stops its audit trail.
    periods: new PeriodChoice(),
    limits: { checkOpen: async () => undefined, admit: async () => ({ release: () => undefined }) },
  }
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
    const actor = writerOf(record)
    const body = new TextEncoder().encode(toJson(eventOf(record)))
    const request = { path: '/', query: {}, headers: { 'idempotency-key': record.id }, contentType: 'application/x-ndjson', body }
    const routing = { collection: AUDIT_COLLECTION, dataset: 'audit-trail', tags: {} }
    const account = new PostAccounting(world.ledger, { actor, protocol: OWN })
    const { outcome } = await storePost(intake, pool, { actor, receiver: native, routing: routing, request, account })
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

/** The actor is the service itself. */
const writerOf = ({ org_id, org_number, address, correlation_id }: DueRow): Actor => ({
  orgId: org_id,
  orgNumber: org_number,
  identity: { type: 'API_KEY_ID', id: NOBODY },
  name: '',
  roles: [],
  permissions: new Set(),
  facts: { correlationId: correlation_id, action: 'audit-trail', address, userAgent: '', accept: '', baseUrl: '' },
})

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
