import { type ConditionSet, type Policy, roleName } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { eventFilterOf } from './event-conditions.ts'

/** A dataset as policies see it. */
export type PolicyDataset = { id: string; collection: string; dataset: string }
/** A caller as policies see it: identity and all roles. */
export type Viewer = { type: 'USER' | 'APIKEY'; id: string; roles: readonly string[] }

/** A resource or a principal, in normal form. */
type PolicyRef = { type: string; id: string }
type Condition = {
  resources: readonly PolicyRef[] | undefined
  principals: readonly PolicyRef[] | undefined
  events: Filter | undefined
}
/** The parts of a policy that decide. */
export type PolicyRule = {
  policy_type: Policy['policy_type']
  resource: PolicyRef
  principal: PolicyRef
  when: Condition | undefined
  unless: Condition | undefined
}

/**
 * Returns which datasets a viewer may see under the rules of the organization. Forbidden ones are hidden; once a viewer is permitted any in
 * particular, all others are hidden. Without a matching rule, roles alone decide. The part about the viewer is evaluated once, and rules are indexed
 * by the resource they name, because there can be thousands of datasets and rules.
 */
export function visibilityOf(rules: readonly PolicyRule[], viewer: Viewer): (place: PolicyDataset) => boolean {
  const concerning = rules.filter((rule) => concerns(rule, viewer))
  const permits = concerning.filter((rule) => rule.policy_type === 'LOG_PERMIT')
  const forbids = concerning.filter((rule) => rule.policy_type === 'LOG_FORBID')
  const [isForbidden, isPermitted] = [reachOf(forbids, viewer), reachOf(permits, viewer)]
  return (place) => !isForbidden(place) && (permits.length === 0 || isPermitted(place))
}

/** The remainder of a rule that names a log and matches a viewer: the logs its conditions include and those they exclude. */
type RuleScope = { wanted: DatasetIndex | undefined; excepted: DatasetIndex | undefined }
/** The logs of a list of resources, by their own ids and by their collections. */
type DatasetIndex = { logs: ReadonlySet<string>; sets: ReadonlySet<string> }

const UNCONDITIONAL: RuleScope = { wanted: undefined, excepted: undefined }

/** Returns whether any of the rules, all of which match the viewer, applies to a log. */
function reachOf(rules: readonly PolicyRule[], viewer: Viewer): (place: PolicyDataset) => boolean {
  const [byLog, bySet] = [new Map<string, RuleScope[]>(), new Map<string, RuleScope[]>()]
  for (const { resource, when, unless } of rules) {
    const isExcepting = unless?.resources && (!unless.principals || isAnyViewer(unless.principals, viewer))
    const reach = { wanted: indexOfResources(when?.resources), excepted: isExcepting ? indexOfResources(unless.resources) : undefined }
    const isEverywhere = !reach.wanted && !reach.excepted
    const index = resource.type === 'LOG' ? byLog : resource.type === 'LOG_SET' ? bySet : undefined
    const others = index?.get(resource.id) ?? []
    if (others[0] !== UNCONDITIONAL) index?.set(resource.id, isEverywhere ? [UNCONDITIONAL] : [...others, reach])
  }
  const reaches = (found: readonly RuleScope[] | undefined, place: PolicyDataset): boolean =>
    found?.some(({ wanted, excepted }) => (!wanted || isIn(wanted, place)) && !(excepted && isIn(excepted, place))) ?? false
  return (place) => reaches(byLog.get(place.id), place) || reaches(bySet.get(place.collection), place)
}

export const indexOfResources = (resources: readonly PolicyRef[] | undefined): DatasetIndex | undefined =>
  resources && {
    logs: new Set(resources.filter(({ type }) => type === 'LOG').map(({ id }) => id)),
    sets: new Set(resources.filter(({ type }) => type === 'LOG_SET').map(({ id }) => id)),
  }

/** Indexes datasets for repeated lookups. */
export const datasetIndex = (places: readonly PolicyDataset[]): DatasetIndex => ({
  logs: new Set(places.map(({ id }) => id)),
  sets: new Set(places.map(({ collection }) => collection)),
})

/** Reports whether a resource names something in the index. */
export const isNamed = ({ type, id }: PolicyRef, index: DatasetIndex): boolean =>
  type === 'LOG' ? index.logs.has(id) : type === 'LOG_SET' && index.sets.has(id)

export const isIn = ({ logs, sets }: DatasetIndex, place: PolicyDataset): boolean => logs.has(place.id) || sets.has(place.collection)

/** Whether a policy shows events, among which its conditions choose. */
export const showsEvents = ({ policy_type }: Pick<PolicyRule, 'policy_type'>): boolean =>
  policy_type === 'ROLE_BASED' || policy_type === 'CUSTOM'

/** Reports whether a rule can apply to a viewer, for any log. */
export function concerns(rule: PolicyRule, viewer: Viewer): boolean {
  if (!isViewer(rule.principal, viewer)) return false
  if (rule.when?.principals && !isAnyViewer(rule.when.principals, viewer)) return false
  const { unless } = rule
  return !unless?.principals || unless.resources !== undefined || unless.events !== undefined || !isAnyViewer(unless.principals, viewer)
}

/** Reports whether any dataset matches the rule; otherwise it would never apply. */
export function matchesAny({ resource, when, unless }: PolicyRule, places: readonly PolicyDataset[]): boolean {
  const isExcepting = !unless?.principals && !unless?.events
  const [wanted, excepted] = [indexOfResources(when?.resources), isExcepting ? indexOfResources(unless?.resources) : undefined]
  return places.some((place) => isResource(resource, place) && (!wanted || isIn(wanted, place)) && !(excepted && isIn(excepted, place)))
}

const isResource = ({ type, id }: PolicyRef, place: PolicyDataset): boolean =>
  type === 'LOG' ? id === place.id : type === 'LOG_SET' && id === place.collection

/**
 * Reports whether a grantee would see something that the viewer does not: every rule that hides something from the viewer must match the grantee too,
 * and if the viewer sees only what is permitted or only some events, the grantee may be permitted and shown nothing else.
 */
export function liftsLimits(rules: readonly PolicyRule[], viewer: Viewer, grantee: Viewer): boolean {
  const ofViewer = new Set(rules.filter((rule) => concerns(rule, viewer)))
  const ofGrantee = new Set(rules.filter((rule) => concerns(rule, grantee)))
  if ([...ofViewer].some((rule) => rule.policy_type === 'LOG_FORBID' && !(ofGrantee.has(rule) && isSameFor(rule, viewer, grantee))))
    return true
  const shows = (all: ReadonlySet<PolicyRule>): PolicyRule[] => [...all].filter(showsEvents)
  const isSameView = (rule: PolicyRule): boolean => ofViewer.has(rule) && isSameFor(rule, viewer, grantee)
  // Of policies that show events, each further one may show more, and each that is missing may leave all.
  const shown = shows(ofViewer).length
  if (shown > 0 && !(shows(ofGrantee).length === shown && shows(ofGrantee).every(isSameView))) return true
  const permits = (all: ReadonlySet<PolicyRule>): PolicyRule[] => [...all].filter((rule) => rule.policy_type === 'LOG_PERMIT')
  if (permits(ofViewer).length === 0) return false
  const ofBoth = permits(ofGrantee).filter((rule) => ofViewer.has(rule) && isSameFor(rule, viewer, grantee))
  return ofBoth.length === 0 || ofBoth.length < permits(ofGrantee).length
}

/** Reports whether the exceptions of a rule match both viewers or neither. */
const isSameFor = ({ unless }: PolicyRule, one: Viewer, other: Viewer): boolean =>
  !unless?.principals || isAnyViewer(unless.principals, one) === isAnyViewer(unless.principals, other)

const isViewer = ({ type, id }: PolicyRef, viewer: Viewer): boolean =>
  type === 'ROLE' ? viewer.roles.some((role) => roleName(role) === id) : type === viewer.type && id === viewer.id

export const isAnyViewer = (principals: readonly PolicyRef[], viewer: Viewer): boolean =>
  principals.some((principal) => isViewer(principal, viewer))

/** Normalizes a policy for fast decisions. Empty lists and conditions have no effect: `unless: {}` does not mean "never". */
export const ruleOf = (policy: {
  policy_type: Policy['policy_type']
  resource: Policy['resource']
  principal: Policy['principal']
  when?: ConditionSet | null | undefined
  unless?: ConditionSet | null | undefined
}): PolicyRule => ({
  policy_type: policy.policy_type,
  resource: normalResource(policy.resource),
  principal: normalPrincipal(policy.principal),
  when: conditionOf(policy.when),
  unless: conditionOf(policy.unless),
})

function conditionOf(given: ConditionSet | null | undefined): Condition | undefined {
  const resources = given?.resources?.length ? given.resources.map(normalResource) : undefined
  const principals = given?.principals?.length ? given.principals.map(normalPrincipal) : undefined
  const events = eventFilterOf(given)
  return resources || principals || events ? { resources, principals, events } : undefined
}

const RESOURCE_NAMES: ReadonlyMap<string, string> = new Map([
  ['DATASET', 'LOG'],
  ['LOGSET', 'LOG_SET'],
  ['COLLECTION', 'LOG_SET'],
])

/** Normalizes the ways to name a resource: datasets are logs, collections are log sets. */
export function normalResource(resource: { resource_type: string; resource_id: string }): PolicyRef {
  const written = resource.resource_type.trim().toUpperCase()
  const type = RESOURCE_NAMES.get(written) ?? written
  return { type, id: type === 'LOG_SET' ? resource.resource_id : resource.resource_id.toLowerCase() }
}

/** Normalizes a principal: `Administrator` is the role Admin, and ids are in lower case. */
export function normalPrincipal(principal: { principal_type: string; principal_id: string }): PolicyRef {
  const type = principal.principal_type.trim().toUpperCase()
  const { principal_id } = principal
  const isId = type !== 'ROLE' || /^[0-9a-f-]{36}$/i.test(principal_id)
  return { type, id: isId ? principal_id.toLowerCase() : roleName(principal_id) }
}
