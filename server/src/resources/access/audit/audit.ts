import type { Identity } from '@dendro/api'
import type { Principal, RequestFacts } from '../../../http/actor.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { type AuditRow, type DueRow, deleteDue, insertAudits, selectDue } from './rows.ts'

export { AUDIT_COLLECTION, type DueRow } from './rows.ts'

type Entity = { type: string; id: string }
export type AuditEntry = { entity: Entity; before?: Record<string, unknown>; after?: Record<string, unknown> }

type AuditWorld = Pick<World, 'clock' | 'ids'>

/** Writes the audit record of a change, in the transaction of the change. */
export const recordChange = (world: AuditWorld, tx: Db, who: AuditActor, entry: AuditEntry): Promise<void> =>
  record(world, tx, who, 'done', entry)

/** Writes the audit records of many changes of one transaction. */
export const recordChanges = async (world: AuditWorld, tx: Db, who: AuditActor, entries: readonly AuditEntry[]): Promise<void> => {
  if (entries.length > 0)
    await insertAudits(
      tx,
      entries.map((entry) => auditRow(world, who, 'done', entry)),
    )
}

/** Records a refused change or a failed login. */
export const recordRefusal = (world: AuditWorld & Pick<World, 'meta'>, who: AuditActor, entry: AuditEntry): Promise<void> =>
  record(world, world.meta, who, 'refused', entry)

export type AuditActor = {
  orgId: string
  identity: Identity | undefined
  name: string
  personalKey?: Principal['personalKey']
  facts: RequestFacts
}

export const auditActorOf = (actor: Principal & { facts: RequestFacts }): AuditActor => ({
  orgId: actor.orgId,
  identity: actor.identity,
  name: actor.name,
  ...(actor.personalKey && { personalKey: actor.personalKey }),
  facts: actor.facts,
})

async function record(world: AuditWorld, db: Db, who: AuditActor, outcome: AuditRow['outcome'], entry: AuditEntry): Promise<void> {
  await insertAudits(db, [auditRow(world, who, outcome, entry)])
}

function auditRow(world: AuditWorld, who: AuditActor, outcome: AuditRow['outcome'], entry: AuditEntry): AuditRow {
  return {
    org_id: who.orgId,
    id: world.ids.uuid(),
    time: world.clock.nowMs(),
    actor: who.identity,
    actor_name: who.personalKey ? `${who.name} with the API key ${who.personalKey.name}` : who.name,
    address: who.facts.address,
    user_agent: who.facts.userAgent,
    action: who.facts.action,
    outcome,
    entity_type: entry.entity.type,
    entity_id: entry.entity.id,
    before: entry.before,
    after: entry.after,
    correlation_id: who.facts.correlationId,
  }
}

/** The oldest records that are not stored as events yet. */
export const recordsDueAsEvents = ({ meta }: Pick<World, 'meta'>, rowsMax: number): Promise<DueRow[]> => selectDue(meta, rowsMax)

/** Marks records as stored as events. */
export const markEventsWritten = ({ meta }: Pick<World, 'meta'>, ids: readonly string[]): Promise<number> => deleteDue(meta, ids)
