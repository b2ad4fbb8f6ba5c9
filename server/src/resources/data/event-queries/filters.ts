import type { Filter } from '@dendro/language/tree'

/** The filter that matches every event. */
export const ALL_EVENTS: Filter = { kind: 'all' }

export const and = (one: Filter, other: Filter): Filter => {
  if (one.kind === 'all') return other
  return other.kind === 'all' ? one : { kind: 'and', of: [one, other] }
}
