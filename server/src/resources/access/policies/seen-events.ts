import { printFilter } from '@dendro/language/print'
import type { Filter } from '@dendro/language/tree'
import { concerns, indexOfResources, isAnyViewer, isIn, type PolicyDataset, type PolicyRule, showsEvents, type Viewer } from './decide.ts'

/** The only events of a dataset that a viewer may see; undefined for all of them. The same filter is the same object. */
export type RequiredEvents = (place: PolicyDataset) => Filter | undefined

const ALL: Filter = { kind: 'all' }

/**
 * Decides which events of a dataset a viewer sees. As soon as a policy shows the viewer events of a dataset, only those are seen that some such policy
 * shows. Undefined for a viewer whom no such policy concerns.
 */
export function seenEventsOf(rules: readonly PolicyRule[], viewer: Viewer): RequiredEvents | undefined {
  const shows = rules.filter((rule) => showsEvents(rule) && concerns(rule, viewer))
  if (shows.length === 0) return undefined
  const byResource = Map.groupBy(
    shows.map((rule) => ({ of: `${rule.resource.type} ${rule.resource.id}`, shown: shownBy(rule, viewer) })),
    ({ of }) => of,
  )
  const known = new Map<string, Filter>()
  return (place) => {
    const named = [byResource.get(`LOG ${place.id}`), byResource.get(`LOG_SET ${place.collection}`)].flatMap((found) => found ?? [])
    const filters = named.flatMap(({ shown }) => shown(place) ?? [])
    if (filters.length === 0 || filters.includes(ALL)) return undefined
    const texts = [...new Set(filters.map(textOf))].sort()
    const name = JSON.stringify(texts)
    const filter = known.get(name) ?? anyOf(filters, texts)
    known.set(name, filter)
    return filter
  }
}

function anyOf(filters: readonly Filter[], texts: readonly string[]): Filter {
  const [only] = filters
  if (only && texts.length === 1) return only
  return { kind: 'or', of: texts.flatMap((text) => filters.find((filter) => textOf(filter) === text) ?? []) }
}

const printed = new WeakMap<Filter, string>()

function textOf(filter: Filter): string {
  const known = printed.get(filter) ?? printFilter(filter)
  printed.set(filter, known)
  return known
}

/** The events of a dataset that a policy shows to a viewer whom it concerns. Undefined where it does not apply. */
function shownBy({ when, unless }: PolicyRule, viewer: Viewer): (place: PolicyDataset) => Filter | undefined {
  const [wanted, excepted] = [indexOfResources(when?.resources), indexOfResources(unless?.resources)]
  const met = when?.events ?? ALL
  const isExcepting = unless !== undefined && (!unless.principals || isAnyViewer(unless.principals, viewer))
  const rest: Filter | undefined = unless?.events && { kind: 'and', of: [met, { kind: 'not', of: unless.events }] }
  return (place) => {
    if (wanted && !isIn(wanted, place)) return undefined
    return isExcepting && (!excepted || isIn(excepted, place)) ? rest : met
  }
}
