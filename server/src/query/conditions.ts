import type { Condition, Filter } from '@dendro/language/tree'

/** Returns all conditions of a filter. */
export function conditionsIn(filter: Filter): readonly Condition[] {
  switch (filter.kind) {
    case 'all':
      return []
    case 'and':
    case 'or':
      return filter.of.flatMap(conditionsIn)
    case 'not':
      return conditionsIn(filter.of)
    default:
      return [filter]
  }
}
