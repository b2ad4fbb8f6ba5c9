import type { SpanNode } from './tree.ts'

/** Where a span lies, in nanoseconds after the start of the trace. */
export type SpanTimes = { readonly start: number; readonly end: number }

/**
 * Returns what must be added to the start of each span, so that no cause follows its effect. A clock is only corrected where the recorded times are
 * impossible: a span of another machine begins before its parent, or a server ends after its client has had the response. The correction holds for the
 * spans below on the same machine.
 */
export function clockSkews(nodes: readonly SpanNode[], starts: readonly number[]): readonly number[] {
  const skews = new Array<number>(nodes.length).fill(0)
  // Parents come before their children, so their own correction is known.
  for (const [index, node] of nodes.entries()) {
    const parent = node.parent === undefined ? undefined : nodes[node.parent]
    if (!parent || node.parent === undefined) continue
    const inherited = skews[node.parent] ?? 0
    if (parent.span.machine === node.span.machine) skews[index] = inherited
    else skews[index] = skewWithin(node, parent, { own: starts[index] ?? 0, ofParent: (starts[node.parent] ?? 0) + inherited })
  }
  return skews
}

/** What to add to the start of a span so that it can be a child of its parent. The network is assumed to take as long there as back. */
function skewWithin({ span }: SpanNode, { span: parent }: SpanNode, { own, ofParent }: { own: number; ofParent: number }): number {
  const isBefore = own < ofParent
  const waits = parent.kind === 'SPAN_KIND_CLIENT' && span.kind === 'SPAN_KIND_SERVER' && parent.status !== 'error'
  const isAfter = waits && own + span.durationNano > ofParent + parent.durationNano
  if (!isBefore && !isAfter) return 0
  // A span that outlasts its parent is not finished in time: only its start is known to be impossible.
  if (span.durationNano > parent.durationNano) return isBefore ? ofParent - own : 0
  return Math.floor(ofParent + (parent.durationNano - span.durationNano) / 2 - own)
}
