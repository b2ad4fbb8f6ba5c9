import type { Identity, Tags } from '@dendro/api'
import type { TailSampling } from '../../../ingest-rules/arriving-event.ts'
import type { Db } from '../../../meta/meta.ts'
import { removeOld } from '../../../meta/old-rows.ts'
import { json, sql } from '../../../meta/sql.ts'

/** Who sent spans, and how. */
export type SpanSender = {
  orgNumber: number
  identity: Identity
  name: string
  address: string
  userAgent: string
  protocol: string
  tags: Tags
}

export type WaitingSpansRow = {
  org_id: string
  id: string
  log_id: string
  sender: SpanSender
  rule_id: string
  rule_position: number
  sampling: TailSampling
  post_key: string | null
  arrived_at: number
  due_at: number
  events: number
  body: Buffer | null
  body_bytes: number
  traces: Buffer
  planned_at: number | null
}
export type DueSpansRow = Omit<WaitingSpansRow, 'body' | 'post_key'>

/** A clock that was set back would let spans wait for as long as it was set back. */
const WAIT_MAX_MS = 600_000

/** The bytes of spans that wait: those of an organization, and those of all. */
export const selectWaitingBytes = async (db: Db, orgId: string): Promise<{ own: number; all: number }> =>
  (await db.one<{ own: number; all: number }>(sql`
    select coalesce(sum(bytes) filter (where org_id = ${orgId}), 0)::bigint as own, coalesce(sum(bytes), 0)::bigint as all
    from (select org_id, octet_length(body) + octet_length(traces) as bytes from waiting_spans where ended_at is null) as waiting`)) ?? {
    own: 0,
    all: 0,
  }

export const selectIsWaiting = async (db: Db): Promise<boolean> =>
  (await db.one<{ is_waiting: boolean }>(sql`select exists (select from waiting_spans where ended_at is null) as is_waiting`))
    ?.is_waiting ?? false

/** A repeated post changes nothing. */
export const insertWaitingSpans = (db: Db, row: WaitingSpansRow) =>
  db.run(sql`
    insert into waiting_spans (org_id, id, log_id, sender, rule_id, rule_position, sampling, post_key, arrived_at, due_at, events, body, body_bytes, traces)
    values (${row.org_id}, ${row.id}, ${row.log_id}, ${json(row.sender)}, ${row.rule_id}, ${row.rule_position}, ${json(row.sampling)}, ${row.post_key},
      ${row.arrived_at}, ${row.due_at}, ${row.events}, ${row.body}, ${row.body_bytes}, ${row.traces})
    on conflict (org_id, post_key) where post_key is not null do nothing`)

const isDue = (nowMs: number) => sql`ended_at is null and (due_at <= ${nowMs} or due_at > ${nowMs + WAIT_MAX_MS})`

export const selectDueOrganizations = (db: Db, nowMs: number) =>
  db.all<{ org_id: string }>(sql`select distinct org_id from waiting_spans where ${isDue(nowMs)} order by org_id`)

/** The next due posts of an organization, up to a number of events, but at least one. */
export const selectDueSpans = (db: Db, orgId: string, nowMs: number, bounds: { posts: number; events: number }) =>
  db.all<DueSpansRow>(sql`
    select org_id, id, log_id, sender, rule_id, rule_position, sampling, arrived_at, due_at, events, body_bytes, traces, planned_at
    from (
      select *, sum(events) over (order by due_at, id) - events as events_before from waiting_spans
      where org_id = ${orgId} and ${isDue(nowMs)} order by due_at, id limit ${bounds.posts}) as due
    where events_before < ${bounds.events} order by due_at, id`)

/** The facts of all posts that wait, in pages of bounded size; `after` is the last id of the page before. */
export const selectTraceFacts = (db: Db, orgId: string, after: string, bytesMax: number) =>
  db.all<{ id: string; traces: Buffer }>(sql`
    select id, traces from (
      select id, traces, sum(octet_length(traces)) over (order by id) - octet_length(traces) as bytes_before from waiting_spans
      where org_id = ${orgId} and ended_at is null and id > ${after} order by id limit 1000) as page
    where bytes_before < ${bytesMax} order by id`)

export const selectBody = async (db: Db, orgId: string, id: string): Promise<Buffer | undefined> =>
  (await db.one<{ body: Buffer | null }>(sql`select body from waiting_spans where org_id = ${orgId} and id = ${id} and ended_at is null`))
    ?.body ?? undefined

export type TraceDecision = { trace: string; weight: number }

export async function selectDecisions(db: Db, orgId: string, traces: readonly string[]): Promise<TraceDecision[]> {
  const rows = await db.all<{ trace_id: Buffer; weight: number }>(sql`
    select trace_id, weight from trace_decisions where org_id = ${orgId} and trace_id = any(${traces.map(bytesOf)}::bytea[])`)
  return rows.map(({ trace_id, weight }) => ({ trace: trace_id.toString('hex'), weight }))
}

/** The first decision about a trace stays. */
export const insertDecisions = (db: Db, orgId: string, decisions: readonly TraceDecision[], nowMs: number) =>
  db.run(sql`
    insert into trace_decisions (org_id, trace_id, weight, decided_at)
    select ${orgId}::uuid, trace_id, weight, ${nowMs}::bigint
    from unnest(${decisions.map(({ trace }) => bytesOf(trace))}::bytea[], ${decisions.map(({ weight }) => weight)}::float8[]) as d (trace_id, weight)
    on conflict do nothing`)

const bytesOf = (trace: string): Buffer => Buffer.from(trace, 'hex')

/** Notes that the kept spans of posts may be stored from now on. */
export const planSpans = (db: Db, orgId: string, ids: readonly string[], nowMs: number) =>
  db.run(sql`
    update waiting_spans set planned_at = ${nowMs}
    where org_id = ${orgId} and id = any(${[...ids]}::uuid[]) and planned_at is null and ended_at is null`)

/** Lets the due spans of a dataset wait longer, so that those of others are not behind them. */
export const postponeSpans = (db: Db, orgId: string, logId: string, nowMs: number, dueMs: number) =>
  db.run(sql`
    update waiting_spans set due_at = ${dueMs} where org_id = ${orgId} and log_id = ${logId} and ended_at is null and due_at <= ${nowMs}`)

/** Keeps what recognizes a repeated post. Returns 0 if another process was first. */
export const endSpans = (db: Db, orgId: string, id: string, nowMs: number) =>
  db.run(sql`
    update waiting_spans set ended_at = ${nowMs}, body = null, traces = '' where org_id = ${orgId} and id = ${id} and ended_at is null`)

export const removeEndedSpans = (db: Db, beforeMs: number) => removeOld(db, 'waiting_spans', 'ended_at', beforeMs)

/** Those of an organization of which older spans still wait stay. */
export const deleteOldDecisions = (db: Db, beforeMs: number) =>
  db.run(sql`
    delete from trace_decisions d where decided_at < ${beforeMs} and not exists (
      select 1 from waiting_spans w where w.org_id = d.org_id and w.ended_at is null and w.arrived_at < ${beforeMs})`)
