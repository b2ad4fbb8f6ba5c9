import type { BodyOf, contract, Limit } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { type SerializedJson, serializeOnce } from '../../../http/serialized-json.ts'
import { badField, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { createdBy, createRecord } from '../../records.ts'
import { allLimits, limitValue } from './caps.ts'
import { monitorLimit } from './monitor-limit.ts'
import { deleteCrossings, deleteLimit, insertLimit, type LimitRow, lockLimit, selectLimit, selectLimits, updateLimitRow } from './rows.ts'

export { type IngestReservation, LimitMeter } from './metering.ts'
export { checkMonitorLimit } from './monitor-limit.ts'
export { monthOf } from './month.ts'

export type { LimitRow } from './rows.ts'

type NewLimit = BodyOf<typeof contract.limits.create>
type LimitChange = BodyOf<typeof contract.limits.update>
type Scope = Limit['scope']
type RequestedScope = BodyOf<typeof contract.limits.create>['scope']

export async function listLimits(
  world: Pick<World, 'meta' | 'deployment'>,
  { orgId }: Actor,
): Promise<SerializedJson<{ limits: Limit[] }>> {
  const system = monitorLimit(world, orgId)
  const shown = async () => [...(await allLimits(world, orgId)), ...(system ? [system] : [])]
  return serializedList(await world.meta.cached(orgId, 'limits-and-those-of-the-operator', shown))
}

const serializedList = serializeOnce((rows: readonly LimitRow[]) => ({ limits: rows.map(shownLimit) }))

export async function findLimit(world: Pick<World, 'meta' | 'deployment'>, actor: Actor, id: string): Promise<LimitRow> {
  const system = monitorLimit(world, actor.orgId)
  if (system?.id === id.toLowerCase()) return system
  const row = await selectLimit(world.meta, actor.orgId, id)
  if (!row) throw notFound('limit', id)
  return row
}

export async function createLimit(world: World, actor: Actor, request: NewLimit): Promise<Limit> {
  const nowMs = world.clock.nowMs()
  const row: LimitRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    category: request.category,
    description: request.description ?? null,
    value: digitsOf(request.value),
    unit: request.unit,
    target: request.target,
    scope: scopeOf(actor, request.scope),
    team: teamOf(request.target, request.scope),
    type: 'USER_DEFINED',
    time_window: request.time_window,
    ...createdBy(actor, nowMs),
  }
  const insert = async (tx: Db): Promise<void> => {
    if ((await insertLimit(tx, row)) === 0) throw duplicateLimit(row)
  }
  await createRecord(world, actor, { entity: 'limit', insert, shown: recorded }, row)
  return shownLimit(row)
}

/** Also reopens a crossed limit: the new value applies from now on. */
export async function updateLimit(world: World, actor: Actor, record: LimitRow, change: LimitChange): Promise<Limit> {
  checkEditable(record)
  const { id } = record
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockLimit(tx, actor.orgId, id)
    if (!before) throw notFound('limit', id)
    const target = change.target ?? before.target
    const scope = change.scope ?? before.scope
    const after: LimitRow = {
      ...before,
      description: change.description ?? before.description,
      value: change.value === undefined ? before.value : digitsOf(change.value),
      target,
      scope: scopeOf(actor, scope),
      team: teamOf(target, scope),
      modified_at: Math.max(world.clock.nowMs(), before.modified_at + 1),
      modified_by: actor.identity,
    }
    const others = await selectLimits(tx, actor.orgId)
    const isTwin = (other: LimitRow): boolean => other.id !== id && other.target === after.target && other.team === after.team
    if (others.some(isTwin)) throw duplicateLimit(after)
    await updateLimitRow(tx, after)
    await deleteCrossings(tx, actor.orgId, id)
    await recordChange(world, tx, actor, { entity: { type: 'limit', id }, before: recorded(before), after: recorded(after) })
    return shownLimit(after)
  })
}

export async function removeLimit(world: World, actor: Actor, record: LimitRow): Promise<undefined> {
  checkEditable(record)
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteLimit(tx, actor.orgId, record.id)) === 0) throw notFound('limit', record.id)
    await recordChange(world, tx, actor, { entity: { type: 'limit', id: record.id }, before: recorded(record) })
  })
}

function checkEditable({ type }: LimitRow): void {
  if (type === 'SYSTEM') throw forbidden('this limit is set by the operator of the service')
}

/** The scope of a limit; callers can limit only their own organization. */
function scopeOf(actor: Actor, { organisation, tag }: RequestedScope): Scope {
  if (organisation?.id && organisation.id.toLowerCase() !== actor.orgId) {
    throw badField('scope.organisation.id', 'must be the organization of the caller', 'FOREIGN')
  }
  return { organisation: { id: actor.orgId }, ...(tag ? { tag } : {}) }
}

/** The team of a scope, '' for the whole organization. */
function teamOf(target: Limit['target'], { tag }: RequestedScope): string {
  if (!tag) return ''
  if (target === 'ORGANISATION') throw badField('scope.tag', 'belongs to the target TEAM', 'CONFLICT')
  if (Object.values(tag).every((part) => part === undefined)) throw badField('scope.tag', 'must name a team', 'INCOMPLETE')
  if ((tag.key === undefined) !== (tag.value === undefined)) throw badField('scope.tag', 'must have key and value together', 'INCOMPLETE')
  if (tag.key !== undefined && tag.key !== 'team') throw badField('scope.tag.key', 'must be team', 'INVALID')
  if (tag.team !== undefined && tag.value !== undefined && tag.team !== tag.value) {
    throw badField('scope.tag', 'must name one team', 'CONFLICT')
  }
  return tag.team ?? tag.value ?? ''
}

const duplicateLimit = ({ target, team }: LimitRow) =>
  conflict(`there is a limit for ${target === 'TEAM' && team !== '' ? `the team ${team}` : `the target ${target}`} already`)

/** The number in decimal notation for the store, without the exponent of large doubles. */
const digitsOf = (value: number | bigint): string =>
  typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : String(value)

/** A limit in the audit trail, with numbers as text where a double would round them. */
function recorded(row: LimitRow): Record<string, unknown> {
  const value = limitValue(row)
  return { ...shownLimit(row), value: typeof value === 'bigint' ? value.toString() : value }
}

export function shownLimit(row: LimitRow): Limit {
  return {
    id: row.id,
    org_id: row.org_id,
    category: row.category,
    ...(row.description === null ? {} : { description: row.description }),
    value: limitValue(row),
    unit: row.unit,
    target: row.target,
    scope: row.scope,
    type: row.type,
    time_window: row.time_window,
    // A limit set by the operator has no author.
    metadata: row.type === 'SYSTEM' ? {} : metadataOf(row),
  }
}
