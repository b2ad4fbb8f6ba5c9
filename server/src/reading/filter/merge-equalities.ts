import type { Condition, Filter, Literal } from '@dendro/language/tree'

/**
 * Merges equalities on one key into lists: `k = 1 OR k = 2` becomes `k IN (1, 2)`, and `k != 1 AND k != 2` becomes `k NOT IN (1, 2)`. The
 * store evaluates a list in one step, however long it is.
 */
export function foldEqualities(filter: Filter): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return foldParts(filter.kind, flat(filter.kind, filter.of).map(foldEqualities))
    case 'not':
      return { kind: 'not', of: foldEqualities(filter.of) }
    default:
      return filter
  }
}

const flat = (kind: 'and' | 'or', of: readonly Filter[]): readonly Filter[] =>
  of.flatMap((part) => (part.kind === kind ? flat(kind, part.of) : [part]))

type List = Extract<Condition, { kind: 'in' }>

function foldParts(kind: 'and' | 'or', parts: readonly Filter[]): Filter {
  const lists = new Map<string, { list: List; values: Literal[] }>()
  const kept: Filter[] = []
  for (const part of parts) {
    const list = listOf(part, kind === 'and')
    const known = list && lists.get(list.key)
    if (list && known) known.values.push(...list.values)
    else if (list) lists.set(list.key, { list, values: [...list.values] })
    // A list takes the position of its first part.
    if (!known) kept.push(list ?? part)
  }
  const of = kept.map((part) =>
    part.kind === 'in' && lists.get(part.key)?.list === part ? listed(part, lists.get(part.key)?.values ?? []) : part,
  )
  const [only] = of
  return only && of.length === 1 ? only : { kind, of }
}

/** Returns the condition as a list, if it can be merged. */
function listOf(part: Filter, negated: boolean): List | undefined {
  if (part.kind === 'in') return part.negated === negated ? part : undefined
  if (part.kind !== 'compare' || part.operator !== (negated ? '!=' : '=')) return undefined
  return { kind: 'in', key: part.key, values: [part.value], negated, at: part.at }
}

function listed(list: List, values: readonly Literal[]): Condition {
  const [only] = values
  if (!only || values.length > 1) return { ...list, values }
  return { kind: 'compare', key: list.key, operator: list.negated ? '!=' : '=', value: only, at: list.at }
}
