import { type ConditionSet, type Policy, roleName } from '@dendro/api'

/** A Place is a dataset as policies see it. */
export type Place = { id: string; collection: string; dataset: string }
/** A Viewer is a caller as policies see him: who he is, and every role he holds. */
export type Viewer = { type: 'USER' | 'APIKEY'; id: string; roles: readonly string[] }
/** A Rule is a policy as far as it decides; its conditions carry no empty lists (see tidied). */
export type Rule = Pick<Policy, 'policy_type' | 'resource' | 'principal'> & { when?: Condition; unless?: Condition }
type Condition = ConditionSet | null | undefined

type NamedResource = { resource_type: string; resource_id: string }
type NamedPrincipal = { principal_type: string; principal_id: string }

/**
 * decideVisibility says whether a viewer may see a dataset, given the policies of the organisation: what is forbidden is hidden; once a viewer
 * is permitted anything in particular, all else is hidden. Without a policy that concerns him he sees what his roles let him see.
 */
export function decideVisibility(policies: readonly Rule[], viewer: Viewer, place: Place): boolean {
  const concerning = policies.filter((policy) => concerns(policy, viewer))
  if (concerning.some((policy) => policy.policy_type === 'LOG_FORBID' && names(policy, viewer, place))) return false
  const permits = concerning.filter((policy) => policy.policy_type === 'LOG_PERMIT')
  return permits.length === 0 || permits.some((policy) => names(policy, viewer, place))
}

/** concerns reports whether a policy has a say about a viewer, for whichever logs. */
export function concerns(policy: Rule, viewer: Viewer): boolean {
  const isAny = (principals: readonly NamedPrincipal[]): boolean => principals.some((principal) => isViewer(principal, viewer))
  if (!isViewer(policy.principal, viewer)) return false
  if (policy.when?.principals && !isAny(policy.when.principals)) return false
  return !policy.unless?.principals || policy.unless.resources !== undefined || !isAny(policy.unless.principals)
}

/** names reports whether the log is one that the policy is about, its conditions included. */
const names = (policy: Rule, viewer: Viewer, place: Place): boolean =>
  isPlace(policy.resource, place) &&
  (!policy.when || holds(policy.when, viewer, place)) &&
  !(policy.unless && holds(policy.unless, viewer, place))

/** holds says whether all lists of a condition hold; a list holds when one of its items fits. */
const holds = (condition: ConditionSet, viewer: Viewer, place: Place): boolean =>
  (!condition.resources || condition.resources.some((resource) => isPlace(resource, place))) &&
  (!condition.principals || condition.principals.some((principal) => isViewer(principal, viewer)))

/** namesSome reports whether there is a dataset that the policy can be about: without one it would be a rule that never rules. */
export const namesSome = (policy: Rule, places: readonly Place[]): boolean =>
  places.some((place) => {
    const isAny = (resources: readonly NamedResource[] | undefined): boolean =>
      resources?.some((resource) => isPlace(resource, place)) ?? false
    const isExcepted = policy.unless?.principals === undefined && isAny(policy.unless?.resources)
    return isPlace(policy.resource, place) && (!policy.when?.resources || isAny(policy.when.resources)) && !isExcepted
  })

/** tidied drops empty lists and empty conditions, which say nothing: `unless: {}` must not mean "never". */
export function tidied(condition: ConditionSet | undefined): ConditionSet | undefined {
  const given = Object.entries(condition ?? {}).filter(([, items]) => items !== undefined && items.length > 0)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

export const isPlace = (resource: NamedResource, place: Place): boolean => {
  const { type, id } = normalResource(resource)
  return type === 'LOG' ? id === place.id : type === 'LOG_SET' && id === place.collection
}

function isViewer(principal: NamedPrincipal, viewer: Viewer): boolean {
  const { type, id } = normalPrincipal(principal)
  return type === 'ROLE' ? viewer.roles.some((role) => roleName(role) === id) : type === viewer.type && id === viewer.id
}

const RESOURCE_NAMES: Readonly<Record<string, 'LOG' | 'LOG_SET'>> = {
  LOG: 'LOG',
  DATASET: 'LOG',
  LOG_SET: 'LOG_SET',
  LOGSET: 'LOG_SET',
  COLLECTION: 'LOG_SET',
}

/** normalResource is the one form of the several ways to name a resource: datasets are logs, collections are log sets. */
export function normalResource(resource: NamedResource): { type: string; id: string } {
  const written = resource.resource_type.trim().toUpperCase()
  const type = RESOURCE_NAMES[written] ?? written
  return { type, id: type === 'LOG_SET' ? resource.resource_id : resource.resource_id.toLowerCase() }
}

/** normalPrincipal is the one form of a principal: `Administrator` is the role Admin, and ids are in lower case. */
export function normalPrincipal(principal: NamedPrincipal): { type: string; id: string } {
  const type = principal.principal_type.trim().toUpperCase()
  const { principal_id } = principal
  const isId = type !== 'ROLE' || /^[0-9a-f-]{36}$/i.test(principal_id)
  return { type, id: isId ? principal_id.toLowerCase() : roleName(principal_id) }
}
