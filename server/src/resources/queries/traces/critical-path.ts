import type { SpanTimes } from './clock-skew.ts'
import type { SpanNode } from './tree.ts'

export type PathStep = { readonly node: number } & SpanTimes

/**
 * Returns the stretches of time that determined how long a span took, in their order; together they are exactly the span. Seen from its end, the
 * child that ended last is what it waited for; before that child began, the one that ended last of the others.
 */
export function criticalPath(nodes: readonly SpanNode[], stretches: readonly SpanTimes[], root: number): readonly PathStep[] {
  const steps: PathStep[] = []
  // From the end to the start. No recursion, since a trace may be as deep as it has spans.
  const waiting: Part[] = [{ node: root, ...(stretches[root] ?? { start: 0, end: 0 }), isOwn: false }]
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    if (!part.isOwn) for (const inner of partsOf(nodes, stretches, part).reverse()) waiting.push(inner)
    else if (part.end > part.start) steps.push({ node: part.node, start: part.start, end: part.end })
  }
  return merged(steps.reverse())
}

/** A stretch of a span; its own time, or one that its children share. */
type Part = PathStep & { readonly isOwn: boolean }

/** Divides a stretch of a span between the span itself and its children, from the end. */
function partsOf(nodes: readonly SpanNode[], stretches: readonly SpanTimes[], { node, start, end }: PathStep): Part[] {
  const parts: Part[] = []
  let cursor = end
  for (const child of lastFirst(nodes[node]?.children ?? [], stretches)) {
    const own = stretches[child]
    if (!own || own.start >= cursor || own.end <= start) continue
    const cut = { start: Math.max(own.start, start), end: Math.min(own.end, cursor) }
    if (cut.end <= cut.start) continue
    parts.push({ node, start: cut.end, end: cursor, isOwn: true }, { node: child, ...cut, isOwn: false })
    cursor = cut.start
  }
  return [...parts, { node, start, end: cursor, isOwn: true }]
}

/** Sorts by the end, the last first; of two that end together, the longer one is what the parent waited for. */
const lastFirst = (children: readonly number[], stretches: readonly SpanTimes[]): readonly number[] =>
  children.toSorted(
    (one, other) =>
      (stretches[other]?.end ?? 0) - (stretches[one]?.end ?? 0) || (stretches[one]?.start ?? 0) - (stretches[other]?.start ?? 0),
  )

/** Joins neighbors of one span. */
function merged(steps: readonly PathStep[]): readonly PathStep[] {
  const joined: PathStep[] = []
  for (const step of steps) {
    const last = joined.at(-1)
    if (last && last.node === step.node && last.end === step.start) joined[joined.length - 1] = { ...last, end: step.end }
    else joined.push(step)
  }
  return joined
}

/** The time of a span in which none of its children ran. */
export function selfTime(node: SpanNode, stretches: readonly SpanTimes[], at: number): number {
  const own = stretches[at]
  if (!own) return 0
  let [covered, reach] = [0, own.start]
  const children = node.children.flatMap((child) => stretches[child] ?? []).sort((one, other) => one.start - other.start)
  for (const { start, end } of children) {
    const [from, to] = [Math.max(start, reach), Math.min(end, own.end)]
    if (to <= from) continue
    covered += to - from
    reach = to
  }
  return own.end - own.start - covered
}
