import type { contract, ReplyOf } from '@dendro/api'
import type { FoundEvent } from '../../../reading/query.ts'
import { SELECT_ALL, showOne } from '../../data/event-queries/event-queries.ts'
import type { AssembledTrace } from './assembled.ts'
import { attributesOf, boundedNanos, sentStart, spanEvents, spanLinks } from './recorded-span.ts'
import { namedSpan } from './trace-id.ts'

type Trace = ReplyOf<typeof contract.traces.get>
type Span = Trace['spans'][number]

const ERRORS_MAX = 100
const NS_PER_MS = 1_000_000n

/** Builds the spans of the answer. `found` are the events of the spans, in the order in which they were assembled. */
export function shownSpans(trace: AssembledTrace, found: readonly FoundEvent[]): Span[] {
  const critical = new Map<number, number>()
  for (const { node, start, end } of trace.path) critical.set(node, (critical.get(node) ?? 0) + end - start)
  return trace.nodes.flatMap((_node, at) => {
    const event = found[trace.nodes[at]?.at ?? -1]
    return event ? [shownSpan(trace, at, event, critical.get(at) ?? 0)] : []
  })
}

function shownSpan({ nodes, stretches, skews, selfNanos }: AssembledTrace, at: number, event: FoundEvent, critical: number): Span {
  const node = nodes[at]
  if (!node) throw new Error('a span of the trace has no place in its tree')
  const { span, parentState, depth, descendants } = node
  const skew = boundedNanos(skews[at] ?? 0)
  const start = stretches[at]?.start ?? 0
  const sentNano = sentStart(event.leaves) ?? span.startNano
  return {
    span_id: span.id,
    ...(span.parentId ? { parent_span_id: span.parentId } : {}),
    parent: parentState,
    depth,
    descendants,
    name: span.name,
    kind: span.kind,
    service: span.service,
    status: span.status,
    ...(span.statusMessage === undefined ? {} : { status_message: span.statusMessage }),
    start_nano: start,
    duration_nano: span.durationNano,
    self_nano: selfNanos[at] ?? 0,
    critical_nano: critical,
    ...(skew === 0 ? {} : { skew_nano: skew }),
    start_time_unix_nano: String(sentNano),
    events: spanEvents(event.leaves).map(({ name, timeNano, attributes }) => ({
      name,
      // The events of a span have its clock.
      ...(timeNano === undefined ? {} : { start_nano: boundedNanos(start + Number(timeNano - sentNano)) }),
      attributes,
    })),
    links: spanLinks(event.leaves).map((link) => ({ ...link })),
    attributes: attributesOf(event.leaves),
    log_id: event.logId,
    timestamp: Number(event.timeNs / NS_PER_MS),
    sequence: JSON.rawJSON(String(event.seq)) as bigint,
  }
}

type Logs = { readonly found: readonly FoundEvent[]; readonly startNano: bigint; readonly baseUrl: string }

/** Builds the events of the answer. Their clocks are not corrected: an event does not tell which one it is of. */
export const shownLogs = ({ found, startNano, baseUrl }: Logs): Trace['logs'] =>
  found.map((event) => {
    const span = namedSpan(event.leaves)
    return {
      ...(span === undefined ? {} : { span_id: span }),
      start_nano: boundedNanos(Number(event.timeNs - startNano)),
      event: showOne(event, { items: SELECT_ALL, baseUrl, places: new Map() }).event,
    }
  })

export const shownErrors = ({ failed, nodes }: AssembledTrace, found: readonly FoundEvent[]): Trace['errors'] =>
  failed
    .toSorted((one, other) => Number(other.isOrigin) - Number(one.isOrigin) || one.node - other.node)
    .slice(0, ERRORS_MAX)
    .map(({ node, isOrigin }) => ({ span: node, message: errorMessage(nodes[node], found), is_origin: isOrigin }))

/** The message of a failed span: its own, that of an exception, or none. */
function errorMessage(node: AssembledTrace['nodes'][number] | undefined, found: readonly FoundEvent[]): string {
  if (node?.span.statusMessage) return node.span.statusMessage
  const leaves = node && found[node.at]?.leaves
  const thrown = leaves ? spanEvents(leaves).find(({ name }) => name === 'exception') : undefined
  return thrown?.attributes['exception.message'] ?? thrown?.attributes['exception.type'] ?? ''
}
