/** How the second of two spans is related to the first: below it at any depth or directly, above it, or with the same parent. */
export type SpanRelation = 'descendant' | 'child' | 'ancestor' | 'parent' | 'sibling'

/** A span of a trace, and whether it meets the first and the second condition. */
export type RelatedSpan = {
  readonly id: string
  readonly parentId: string | undefined
  readonly isFirst: boolean
  readonly isSecond: boolean
}

/** The ids of spans that are in a relation, by the condition that they meet. */
export type Related = { readonly first: ReadonlySet<string>; readonly second: ReadonlySet<string> }

/** Finds the spans of one trace that are in a relation. Of several spans with one id the last counts. */
export function relatedIn(spans: readonly RelatedSpan[], relation: SpanRelation): Related {
  const byId = new Map(spans.map((span) => [span.id, span]))
  const all = [...byId.values()]
  switch (relation) {
    case 'descendant':
      return descendantsIn(all, byId)
    case 'child':
      return childrenIn(all, byId)
    case 'sibling':
      return siblingsIn(all)
    default: {
      const swapped = all.map((span) => ({ ...span, isFirst: span.isSecond, isSecond: span.isFirst }))
      const { first, second } = relatedIn(swapped, relation === 'ancestor' ? 'descendant' : 'child')
      return { first: second, second: first }
    }
  }
}

type ById = ReadonlyMap<string, RelatedSpan>

const parentOf = ({ parentId }: RelatedSpan, byId: ById): RelatedSpan | undefined =>
  parentId === undefined ? undefined : byId.get(parentId)

function childrenIn(spans: readonly RelatedSpan[], byId: ById): Related {
  const pairs = spans.flatMap((span) => {
    const parent = span.isSecond ? parentOf(span, byId) : undefined
    return parent?.isFirst ? [{ parent, span }] : []
  })
  return { first: new Set(pairs.map(({ parent }) => parent.id)), second: new Set(pairs.map(({ span }) => span.id)) }
}

function descendantsIn(spans: readonly RelatedSpan[], byId: ById): Related {
  const first = new Set<string>()
  const passed = new Set<string>()
  for (const span of spans.filter(({ isSecond }) => isSecond)) {
    // Everything above a span that was passed before was passed too, which also ends a circle of parents.
    for (let above = parentOf(span, byId); above && !passed.has(above.id); above = parentOf(above, byId)) {
      passed.add(above.id)
      if (above.isFirst) first.add(above.id)
    }
  }
  const isBelow = new Map<string, boolean>()
  const second = spans.filter((span) => span.isSecond && liesBelow(span))
  return { first, second: new Set(second.map(({ id }) => id)) }

  /** Whether a span lies below one of the first kind. */
  function liesBelow(span: RelatedSpan): boolean {
    const path: RelatedSpan[] = []
    let one: RelatedSpan | undefined = span
    while (one && !isBelow.has(one.id)) {
      path.push(one)
      isBelow.set(one.id, false)
      one = parentOf(one, byId)
    }
    let found = one !== undefined && ((isBelow.get(one.id) ?? false) || one.isFirst)
    for (const own of path.toReversed()) {
      isBelow.set(own.id, found)
      found ||= own.isFirst
    }
    return isBelow.get(span.id) ?? false
  }
}

function siblingsIn(spans: readonly RelatedSpan[]): Related {
  const [first, second] = [new Set<string>(), new Set<string>()]
  for (const [parent, own] of Map.groupBy(spans, ({ parentId }) => parentId)) {
    if (parent === undefined) continue
    const firsts = own.filter(({ isFirst }) => isFirst)
    const seconds = own.filter(({ isSecond }) => isSecond)
    const hasOther = (others: readonly RelatedSpan[], id: string) => others.some((other, at) => at < 2 && other.id !== id)
    for (const { id } of firsts) if (hasOther(seconds, id)) first.add(id)
    for (const { id } of seconds) if (hasOther(firsts, id)) second.add(id)
  }
  return { first, second }
}
