import { clockSkews, type SpanTimes } from './clock-skew.ts'
import { criticalPath, type PathStep, selfTime } from './critical-path.ts'
import { boundedNanos, type RecordedSpan } from './recorded-span.ts'
import { type SpanNode, treeOf } from './tree.ts'

/** What follows from the spans of a trace. Positions are those in `nodes`; times are nanoseconds after `startNano`. */
export type AssembledTrace = {
  readonly startNano: bigint
  readonly durationNano: number
  readonly nodes: readonly SpanNode[]
  readonly duplicates: number
  readonly stretches: readonly SpanTimes[]
  readonly skews: readonly number[]
  readonly selfNanos: readonly number[]
  readonly root: number | undefined
  readonly path: readonly PathStep[]
  readonly services: readonly ServiceShare[]
  readonly failed: readonly { readonly node: number; readonly isOrigin: boolean }[]
  readonly missing: readonly string[]
}

type ServiceShare = { service: string; spans: number; errors: number; self_nano: number }

/** Assembles the spans of a trace. There must be at least one. */
export function assembleTrace(spans: readonly RecordedSpan[]): AssembledTrace {
  const { nodes, duplicates } = treeOf(spans)
  const recordedFrom = nodes.map(({ span }) => span.startNano).reduce(earlier)
  const recorded = nodes.map(({ span }) => boundedNanos(Number(span.startNano - recordedFrom)))
  const skews = clockSkews(nodes, recorded)
  const corrected = recorded.map((start, at) => start + (skews[at] ?? 0))
  // The earliest span may be one whose clock was wrong.
  const first = corrected.reduce((least, start) => Math.min(least, start), Number.POSITIVE_INFINITY)
  const stretches = nodes.map(({ span }, at) => {
    const start = boundedNanos((corrected[at] ?? 0) - first)
    return { start, end: boundedNanos(start + span.durationNano) }
  })
  const root = rootOf(nodes)
  const selfNanos = nodes.map((node, at) => selfTime(node, stretches, at))
  return {
    startNano: recordedFrom + BigInt(first),
    durationNano: stretches.reduce((last, { end }) => Math.max(last, end), 0),
    nodes,
    duplicates,
    stretches,
    skews,
    selfNanos,
    root,
    path: root === undefined ? [] : criticalPath(nodes, stretches, root),
    services: servicesOf(nodes, selfNanos),
    failed: failedOf(nodes),
    missing: [...new Set(nodes.flatMap(({ span, parentState }) => (parentState === 'missing' ? [span.parentId ?? ''] : [])))],
  }
}

const earlier = (one: bigint, other: bigint): bigint => {
  if (one <= other) return one
  return other
}

/** The longest span without a parent; one whose parent is missing only if there is no other. */
function rootOf(nodes: readonly SpanNode[]): number | undefined {
  const tops = [...nodes.keys()].filter((at) => nodes[at]?.parent === undefined)
  const real = tops.filter((at) => nodes[at]?.parentState === 'none')
  const longest = (list: readonly number[]) =>
    list.reduce<number | undefined>(
      (best, at) => (best === undefined || (nodes[at]?.span.durationNano ?? 0) > (nodes[best]?.span.durationNano ?? 0) ? at : best),
      undefined,
    )
  return longest(real) ?? longest(tops)
}

function servicesOf(nodes: readonly SpanNode[], selfNanos: readonly number[]): readonly ServiceShare[] {
  const shares = new Map<string, ServiceShare>()
  for (const [at, { span }] of nodes.entries()) {
    const share = shares.get(span.service) ?? { service: span.service, spans: 0, errors: 0, self_nano: 0 }
    share.spans += 1
    share.self_nano = boundedNanos(share.self_nano + (selfNanos[at] ?? 0))
    if (span.status === 'error') share.errors += 1
    shares.set(span.service, share)
  }
  return [...shares.values()].sort((one, other) => other.self_nano - one.self_nano || (one.service < other.service ? -1 : 1))
}

/** Failed spans in their order. An origin is one below which no other failed. */
function failedOf(nodes: readonly SpanNode[]): AssembledTrace['failed'] {
  const failsBelow = new Array<boolean>(nodes.length).fill(false)
  for (const [at, { span, parent }] of [...nodes.entries()].reverse()) {
    if (parent !== undefined && (span.status === 'error' || failsBelow[at])) failsBelow[parent] = true
  }
  return [...nodes.entries()].flatMap(([at, { span }]) =>
    span.status === 'error' ? [{ node: at, isOrigin: failsBelow[at] !== true }] : [],
  )
}
