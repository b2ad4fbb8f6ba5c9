import type { Tags } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { TailSampling } from '../../../ingest-rules/arriving-event.ts'
import { bothFacts, type TraceFacts, unpackFacts, weightOfTrace } from '../../../ingest-rules/trace-facts.ts'
import { unavailable } from '../../../kernel/errors.ts'
import { NIL_ID } from '../../../kernel/ids.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { type DueSpansRow, insertWaitingSpans, selectDecisions, selectTraceFacts, selectWaitingBytes, type TraceDecision } from './rows.ts'

export {
  type DueSpansRow,
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
} from './rows.ts'

/** Spans that wait by one rule until their traces are decided: as compressed JSON, with the facts of their traces. */
export type PackedSpans = {
  readonly ruleId: string
  /** The position of the rule; only rules behind it apply to the spans that are kept. */
  readonly after: number
  readonly sampling: TailSampling
  readonly events: number
  readonly body: Uint8Array
  /** The bytes of the body before it was compressed. */
  readonly bodyBytes: number
  readonly traces: Uint8Array
}

/** Those of one post for one dataset. */
export type ArrivedSpans = PackedSpans & {
  readonly logId: string
  readonly tags: Tags
  /** Recognizes a repeated post. */
  readonly postKey: string | undefined
}

export type WaitingBounds = { readonly ownBytes: number; readonly allBytes: number }

/** What the spans that wait may take: those of an organization, and those of all together. */
const BOUNDS: WaitingBounds = { ownBytes: 256 * 2 ** 20, allBytes: 2 ** 30 }
const RETRY_AFTER_S = 5
const FACTS_BYTES_MAX = 16 * 2 ** 20

/** Whether more spans of an organization may wait. It has at most as much as it leaves free, so that there is always some room for others. */
export const mayWait = (waiting: { readonly own: number; readonly all: number }, { ownBytes, allBytes }: WaitingBounds): boolean =>
  waiting.own <= ownBytes && waiting.own < allBytes - waiting.all

/** Keeps spans until their traces are decided, and returns when they are durable. */
export async function keepWaitingSpans(
  world: Pick<World, 'clock' | 'ids' | 'meta'>,
  actor: Actor,
  protocol: string,
  all: readonly ArrivedSpans[],
  bounds: WaitingBounds = BOUNDS,
): Promise<void> {
  const { orgId, orgNumber, identity, name, facts } = actor
  if (!mayWait(await selectWaitingBytes(world.meta, orgId), bounds)) {
    throw unavailable('too many spans wait for the decision which traces are stored', { retryAfterS: RETRY_AFTER_S })
  }
  const nowMs = world.clock.nowMs()
  await world.meta.write(orgId, async (tx) => {
    for (const { logId, ruleId, after, sampling, events, body, bodyBytes, traces, tags, postKey } of all) {
      await insertWaitingSpans(tx, {
        ...{ org_id: orgId, id: world.ids.uuid(), log_id: logId, rule_id: ruleId, rule_position: after, sampling },
        sender: { orgNumber, identity, name, address: facts.address, userAgent: facts.userAgent, protocol, tags },
        post_key: postKey ?? null,
        arrived_at: nowMs,
        due_at: nowMs + sampling.wait_s * 1_000,
        ...{ events, body: Buffer.from(body), body_bytes: bodyBytes, traces: Buffer.from(traces), planned_at: null },
      })
    }
  })
}

export type Decided = {
  /** How many traces each of the traces of these posts stands for; 0 for one that is not stored. */
  readonly weights: ReadonlyMap<string, number>
  /** The decisions that are new. */
  readonly fresh: readonly TraceDecision[]
}

/** Decides about the traces of posts, by all spans of them that have arrived. What was decided before stays. */
export async function decideTraces(db: Db, orgId: string, due: readonly Pick<DueSpansRow, 'traces' | 'sampling'>[]): Promise<Decided> {
  const samplings = new Map<string, TailSampling>()
  for (const { traces, sampling } of due) for (const [id] of unpackFacts(traces)) if (!samplings.has(id)) samplings.set(id, sampling)
  const weights = new Map((await selectDecisions(db, orgId, [...samplings.keys()])).map(({ trace, weight }) => [trace, weight]))
  const open = new Map<string, TraceFacts | undefined>()
  for (const id of samplings.keys()) if (!weights.has(id)) open.set(id, undefined)
  if (open.size > 0) await addFacts(db, orgId, open)
  const fresh = [...open].flatMap(([trace, facts]): TraceDecision[] => {
    const sampling = samplings.get(trace)
    return facts && sampling ? [{ trace, weight: weightOfTrace(trace, facts, sampling) }] : []
  })
  for (const { trace, weight } of fresh) weights.set(trace, weight)
  return { weights, fresh }
}

/** Adds what is known of open traces in all posts that wait. */
async function addFacts(db: Db, orgId: string, open: Map<string, TraceFacts | undefined>): Promise<void> {
  for (let after = NIL_ID; ; ) {
    const page = await selectTraceFacts(db, orgId, after, FACTS_BYTES_MAX)
    for (const { traces } of page) {
      for (const [id, facts] of unpackFacts(traces)) {
        if (!open.has(id)) continue
        const known = open.get(id)
        open.set(id, known ? bothFacts(known, facts) : facts)
      }
    }
    const last = page.at(-1)
    if (!last) return
    after = last.id
  }
}
