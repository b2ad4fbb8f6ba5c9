import { type BodyOf, type ConditionSet, type contract, type Policy, roleName, systemRoles } from '@dendro/api'
import type { Actor, Principal } from '../../../http/actor.ts'
import { badField, forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { createdBy, createRecord, modifiedBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import {
  concerns,
  datasetIndex,
  isNamed,
  liftsLimits,
  matchesAny,
  normalPrincipal,
  normalResource,
  type PolicyDataset,
  type PolicyRule,
  ruleOf,
  showsEvents,
  type Viewer,
  visibilityOf,
} from './decide.ts'
import { checkEventConditions } from './event-conditions.ts'
import {
  deletePolicy,
  insertPolicy,
  type PolicyRow,
  selectKnownApiKey,
  selectKnownRole,
  selectKnownUser,
  selectPolicies,
  selectPolicyDatasets,
  updatePolicyRow,
} from './rows.ts'
import { type RequiredEvents, seenEventsOf } from './seen-events.ts'

export type { Viewer } from './decide.ts'
export type { RequiredEvents } from './seen-events.ts'

type PolicyDraft = BodyOf<typeof contract.policies.create>
/** What the policies must name; absent members match everything. */
export type PolicyFilter = {
  resource_type?: string | undefined
  resource_id?: string | undefined
  principal_type?: string | undefined
  principal_id?: string | undefined
}

const READING = ['*', 'read', 'search', 'logs_read', 'search_read']
const ACTIONS = [...READING, 'write', 'delete', 'logs_write', 'logs_delete']

const allPolicies = (
  world: Pick<MetaWorld, 'meta'>,
  orgId: string,
): Promise<{ rows: readonly PolicyRow[]; rules: readonly PolicyRule[] }> =>
  world.meta.cached(orgId, 'policies', async () => {
    const rows = await selectPolicies(world.meta, orgId)
    return { rows, rules: rows.map(ruleOf) }
  })

/** Reports whether a policy applies to the caller, for any dataset. */
export async function isLimited(world: MetaWorld, actor: Principal): Promise<boolean> {
  const { rules } = await allPolicies(world, actor.orgId)
  return rules.length > 0 && rules.some((rule) => concerns(rule, viewerOf(actor)))
}

/** Filters out datasets that policies hide from the caller; free without policies. */
export async function visibleTo<D extends PolicyDataset>(
  world: MetaWorld,
  actor: Principal,
  datasets: readonly D[],
): Promise<readonly D[]> {
  const { rules } = await allPolicies(world, actor.orgId)
  if (rules.length === 0) return datasets
  const viewer = viewerOf(actor)
  return rules.some((rule) => concerns(rule, viewer)) ? datasets.filter(visibilityOf(rules, viewer)) : datasets
}

/** True when a policy of the organization names the dataset itself, or the collection. */
export async function arePoliciesOn(world: MetaWorld, orgId: string, place: { id?: string; collection?: string }): Promise<boolean> {
  const { rules } = await allPolicies(world, orgId)
  return rules.some(({ resource, when, unless }) =>
    [resource, ...(when?.resources ?? []), ...(unless?.resources ?? [])].some(({ type, id }) =>
      type === 'LOG' ? id === place.id : id === place.collection,
    ),
  )
}

/** Decides which events of a dataset the caller sees. Undefined, and free, for callers whom no policy on events concerns. */
export async function seenEventsFor(world: Pick<MetaWorld, 'meta'>, actor: Principal): Promise<RequiredEvents | undefined> {
  const { rules } = await allPolicies(world, actor.orgId)
  return rules.some(showsEvents) ? seenEventsOf(rules, viewerOf(actor)) : undefined
}

/** What somebody would see with a policy that does not exist yet. */
export type PolicyView = { readonly sees: (place: PolicyDataset) => boolean; readonly seen: RequiredEvents | undefined }

/** Decides what a viewer would see with a further policy, or with one in place of another. Refuses a policy that could not be created. */
export async function viewWith(
  world: MetaWorld,
  orgId: string,
  draft: PolicyDraft,
  viewer: Viewer,
  replacedId?: string,
): Promise<PolicyView> {
  await checkPolicy(world.meta, orgId, draft)
  const { rows, rules } = await allPolicies(world, orgId)
  const all = [...rules.filter((_, index) => rows[index]?.id !== replacedId), ruleOf(draft)]
  return { sees: visibilityOf(all, viewer), seen: seenEventsOf(all, viewer) }
}

/** Selects the datasets that a policy names. */
export const namedBy = (draft: Pick<PolicyDraft, 'resource'>): ((place: PolicyDataset) => boolean) => {
  const named = normalResource(draft.resource)
  return (place) => isNamed(named, datasetIndex([place]))
}

const viewerOf = (actor: Principal): Viewer => ({
  type: actor.identity.type === 'USER_ID' ? 'USER' : 'APIKEY',
  id: actor.identity.id,
  roles: actor.roles,
})

/**
 * Rejects a grant of roles by a limited caller if the grantee would see more than the caller. Callers who may change policies are exempt, because
 * they could lift them.
 */
export async function checkLimits(world: MetaWorld, actor: Actor, type: Viewer['type'], roles: readonly string[]): Promise<void> {
  if (actor.permissions.has('policies_write') && actor.permissions.has('policies_delete')) return
  const { rules } = await allPolicies(world, actor.orgId)
  if (rules.length === 0 || !liftsLimits(rules, viewerOf(actor), { type, id: '', roles })) return
  throw forbidden('callers grant only what they hold: a policy limits which logs the caller sees, and it would not limit these roles')
}

/** The roles that LOG_PERMIT policies limit to some logs, in stored form. */
export async function limitedRoles(world: MetaWorld, orgId: string): Promise<ReadonlySet<string>> {
  const { rules } = await allPolicies(world, orgId)
  const permits = rules.filter((rule) => rule.policy_type === 'LOG_PERMIT' && rule.principal.type === 'ROLE')
  return new Set(permits.map((rule) => rule.principal.id))
}

export async function listPolicies(world: MetaWorld, actor: Actor, filter: PolicyFilter): Promise<Policy[]> {
  return (await allPolicies(world, actor.orgId)).rows.map(shown).filter((policy) => matchesFilter(policy, filter))
}

export async function findPolicy(world: MetaWorld, actor: Actor, id: string): Promise<PolicyRow> {
  const row = (await allPolicies(world, actor.orgId)).rows.find((candidate) => candidate.id === id)
  if (!row) throw notFound('policy', id)
  return row
}

export const getPolicy = async (row: PolicyRow): Promise<Policy> => shown(row)

export async function createPolicy(world: World, actor: Actor, request: PolicyDraft): Promise<Policy> {
  const nowMs = world.clock.nowMs()
  const row: PolicyRow = {
    ...columnsOf(request),
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...createdBy(actor, nowMs),
  }
  await checkPolicy(world.meta, actor.orgId, shown(row))
  return createRecord(world, actor, { entity: 'policy', insert: insertPolicy, shown }, row)
}

export async function updatePolicy(world: World, actor: Actor, record: PolicyRow, request: PolicyDraft): Promise<Policy> {
  const next: PolicyRow = { ...record, ...columnsOf(request), ...modifiedBy(actor, world.clock.nowMs()) }
  await checkPolicy(world.meta, actor.orgId, shown(next))
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await updatePolicyRow(tx, next)) === 0) throw notFound('policy', record.id)
    await recordChange(world, tx, actor, { entity: { type: 'policy', id: record.id }, before: shown(record), after: shown(next) })
  })
  return shown(next)
}

export async function removePolicy(world: World, actor: Actor, record: PolicyRow): Promise<Record<never, never>> {
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deletePolicy(tx, actor.orgId, record.id)) === 0) throw notFound('policy', record.id)
    await recordChange(world, tx, actor, { entity: { type: 'policy', id: record.id }, before: shown(record) })
  })
  return {}
}

/** Rejects policies without effect: those that cannot be evaluated, or that name nothing that exists. */
async function checkPolicy(db: Db, orgId: string, policy: PolicyDraft): Promise<void> {
  checkActions(policy.actions)
  const conditions = { when: policy.when, unless: policy.unless }
  if (policy.policy_type === 'ROLE_BASED' && policy.principal.principal_type !== 'ROLE')
    throw badField('principal', 'must be a ROLE for a ROLE_BASED policy; a CUSTOM policy may name a user or an API key')
  checkEvents(policy.policy_type, conditions)
  const places = await selectPolicyDatasets(db, orgId)
  const known = datasetIndex(places)
  checkResource('resource', policy.resource, known)
  await checkPrincipal(db, orgId, 'principal', policy.principal)
  for (const [name, condition] of Object.entries(conditions)) {
    for (const resource of condition?.resources ?? []) checkResource(`${name}.resources`, resource, known)
    for (const principal of condition?.principals ?? []) await checkPrincipal(db, orgId, `${name}.principals`, principal)
  }
  if (!matchesAny(ruleOf(policy), places))
    throw badField('resource', 'and the conditions together name no log, so the policy would never apply')
}

type Conditions = { readonly when: ConditionSet | undefined; readonly unless: ConditionSet | undefined }

function checkEvents(type: Policy['policy_type'], { when, unless }: Conditions): void {
  for (const [name, condition] of [['when', when] as const, ['unless', unless] as const]) {
    const given = condition?.context?.length ? 'context' : condition?.where?.trim() ? 'where' : undefined
    if (given && !showsEvents({ policy_type: type }))
      throw badField(`${name}.${given}`, `is for ROLE_BASED and CUSTOM policies; ${type} is about whole logs`)
    checkEventConditions(condition, name)
  }
}

function checkActions(actions: readonly string[]): void {
  const given = actions.map((action) => action.trim().toLowerCase())
  if (given.some((action) => !ACTIONS.includes(action))) throw badField('actions', `must each be one of ${ACTIONS.join(', ')}`)
  if (given.some((action) => READING.includes(action))) return
  throw badField('actions', `must include one of ${READING.join(', ')}: a log is seen as a whole or not at all`)
}

function checkResource(field: string, resource: Policy['resource'], known: ReturnType<typeof datasetIndex>): void {
  const named = normalResource(resource)
  const { type } = named
  if (type !== 'LOG' && type !== 'LOG_SET')
    throw badField(field, `must be of type LOG (a log by its id) or LOG_SET (a collection by its name), not ${resource.resource_type}`)
  if (isNamed(named, known)) return
  throw badField(field, `names no ${type === 'LOG' ? 'log with the id' : 'collection with the name'} ${resource.resource_id}`)
}

async function checkPrincipal(db: Db, orgId: string, field: string, principal: Policy['principal']): Promise<void> {
  const { id } = normalPrincipal(principal)
  const isKnown = {
    ROLE: async () => Object.hasOwn(systemRoles, roleName(id)) || (await selectKnownRole(db, orgId, id)),
    USER: () => selectKnownUser(db, orgId, id),
    APIKEY: () => selectKnownApiKey(db, orgId, id),
  }[principal.principal_type]
  if (!(await isKnown())) throw badField(field, `names no ${principal.principal_type} ${principal.principal_id}`)
}

function matchesFilter(policy: Policy, filter: PolicyFilter): boolean {
  const resources = [policy.resource, ...(policy.when?.resources ?? []), ...(policy.unless?.resources ?? [])]
  const principals = [policy.principal, ...(policy.when?.principals ?? []), ...(policy.unless?.principals ?? [])]
  return (
    resources.some((resource) => {
      const wanted = {
        resource_type: filter.resource_type ?? resource.resource_type,
        resource_id: filter.resource_id ?? resource.resource_id,
      }
      return isSame(normalResource(resource), normalResource(wanted))
    }) &&
    principals.some((principal) => {
      const wanted = {
        principal_type: filter.principal_type ?? principal.principal_type,
        principal_id: filter.principal_id ?? principal.principal_id,
      }
      return isSame(normalPrincipal(principal), normalPrincipal(wanted))
    })
  )
}

const isSame = (left: { type: string; id: string }, right: { type: string; id: string }): boolean =>
  left.type === right.type && left.id === right.id

function columnsOf(
  request: PolicyDraft,
): Pick<PolicyRow, 'description' | 'policy_type' | 'resource' | 'actions' | 'restricted' | 'principal' | 'when' | 'unless'> {
  return {
    description: request.description ?? null,
    policy_type: request.policy_type,
    resource: request.resource,
    actions: request.actions,
    restricted: request.restricted,
    principal: request.principal,
    when: request.when ?? null,
    unless: request.unless ?? null,
  }
}

const conditionOf = (name: 'when' | 'unless', condition: ConditionSet | null) => (condition === null ? {} : { [name]: condition })

function shown(row: PolicyRow): Policy {
  return {
    id: row.id,
    ...(row.description === null ? {} : { description: row.description }),
    policy_type: row.policy_type,
    resource: row.resource,
    actions: row.actions,
    restricted: row.restricted,
    principal: row.principal,
    ...conditionOf('when', row.when),
    ...conditionOf('unless', row.unless),
    created_at: row.created_at,
    modified_at: row.modified_at,
    metadata: metadataOf(row),
  }
}
