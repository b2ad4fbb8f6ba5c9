import { type ConditionSet, type Policy, roleName } from '@dendro/api'

/** A Place is a dataset as policies see it. */
export type Place = { id: string; collection: string; dataset: string }
/** A Viewer is a caller as policies see him: who he is, and every role he holds. */
export type Viewer = { type: 'USER' | 'APIKEY'; id: string; roles: readonly string[] }

/** A Name is a resource or a principal in the one form in which they are compared. */
type Name = { type: string; id: string }
type Condition = { resources: readonly Name[] | undefined; principals: readonly Name[] | undefined }
/** A Rule is a policy as far as it decides. */
export type Rule = {
  policy_type: Policy['policy_type']
  resource: Name
  principal: Name
  when: Condition | undefined
  unless: Condition | undefined
}

/**
 * decideVisibility says whether a viewer may see a dataset, given the rules of the organisation: what is forbidden is hidden; once a viewer
 * is permitted anything in particular, all else is hidden. Without a rule that concerns him he sees what his roles let him see.
 */
export function decideVisibility(rules: readonly Rule[], viewer: Viewer, place: Place): boolean {
  let isLimited = false
  let isPermitted = false
  for (const rule of rules) {
    // What is neither about this log nor the first limit cannot change the answer: most rules end here.
    const couldName = isPlace(rule.resource, place)
    if (!couldName && (isLimited || rule.policy_type !== 'LOG_PERMIT')) continue
    if (!concerns(rule, viewer)) continue
    const isNamed = couldName && names(rule, viewer, place)
    if (rule.policy_type === 'LOG_FORBID' && isNamed) return false
    if (rule.policy_type !== 'LOG_PERMIT') continue
    isLimited = true
    isPermitted ||= isNamed
  }
  return isPermitted || !isLimited
}

/** concerns reports whether a rule has a say about a viewer, for whichever logs. */
export function concerns(rule: Rule, viewer: Viewer): boolean {
  if (!isViewer(rule.principal, viewer)) return false
  if (rule.when?.principals && !isAnyViewer(rule.when.principals, viewer)) return false
  return !rule.unless?.principals || rule.unless.resources !== undefined || !isAnyViewer(rule.unless.principals, viewer)
}

/** names reports whether the log is one that the rule is about, its conditions included. */
const names = (rule: Rule, viewer: Viewer, place: Place): boolean =>
  isPlace(rule.resource, place) && (!rule.when || holds(rule.when, viewer, place)) && !(rule.unless && holds(rule.unless, viewer, place))

/** holds says whether all lists of a condition hold; a list holds when one of its items fits. */
const holds = (condition: Condition, viewer: Viewer, place: Place): boolean =>
  (!condition.resources || isAnyPlace(condition.resources, place)) && (!condition.principals || isAnyViewer(condition.principals, viewer))

/** namesSome reports whether there is a dataset that the rule can be about: without one it would never rule. */
export const namesSome = (rule: Rule, places: readonly Place[]): boolean =>
  places.some((place) => {
    const isExcepted = rule.unless?.resources && !rule.unless.principals && isAnyPlace(rule.unless.resources, place)
    return isPlace(rule.resource, place) && (!rule.when?.resources || isAnyPlace(rule.when.resources, place)) && !isExcepted
  })

export const isPlace = ({ type, id }: Name, place: Place): boolean =>
  type === 'LOG' ? id === place.id : type === 'LOG_SET' && id === place.collection

const isAnyPlace = (resources: readonly Name[], place: Place): boolean => resources.some((resource) => isPlace(resource, place))

const isViewer = ({ type, id }: Name, viewer: Viewer): boolean =>
  type === 'ROLE' ? viewer.roles.some((role) => roleName(role) === id) : type === viewer.type && id === viewer.id

const isAnyViewer = (principals: readonly Name[], viewer: Viewer): boolean => principals.some((principal) => isViewer(principal, viewer))

/** ruleOf brings a policy into the form that decides quickly. Empty lists and conditions say nothing: `unless: {}` does not mean "never". */
export const ruleOf = (policy: {
  policy_type: Policy['policy_type']
  resource: Policy['resource']
  principal: Policy['principal']
  when?: ConditionSet | null | undefined
  unless?: ConditionSet | null | undefined
}): Rule => ({
  policy_type: policy.policy_type,
  resource: normalResource(policy.resource),
  principal: normalPrincipal(policy.principal),
  when: conditionOf(policy.when),
  unless: conditionOf(policy.unless),
})

function conditionOf(given: ConditionSet | null | undefined): Condition | undefined {
  const resources = given?.resources?.length ? given.resources.map(normalResource) : undefined
  const principals = given?.principals?.length ? given.principals.map(normalPrincipal) : undefined
  return resources || principals ? { resources, principals } : undefined
}

const RESOURCE_NAMES: ReadonlyMap<string, string> = new Map([
  ['DATASET', 'LOG'],
  ['LOGSET', 'LOG_SET'],
  ['COLLECTION', 'LOG_SET'],
])

/** normalResource is the one form of the several ways to name a resource: datasets are logs, collections are log sets. */
export function normalResource(resource: { resource_type: string; resource_id: string }): Name {
  const written = resource.resource_type.trim().toUpperCase()
  const type = RESOURCE_NAMES.get(written) ?? written
  return { type, id: type === 'LOG_SET' ? resource.resource_id : resource.resource_id.toLowerCase() }
}

/** normalPrincipal is the one form of a principal: `Administrator` is the role Admin, and ids are in lower case. */
export function normalPrincipal(principal: { principal_type: string; principal_id: string }): Name {
  const type = principal.principal_type.trim().toUpperCase()
  const { principal_id } = principal
  const isId = type !== 'ROLE' || /^[0-9a-f-]{36}$/i.test(principal_id)
  return { type, id: isId ? principal_id.toLowerCase() : roleName(principal_id) }
}
