import { resourceAttributes, type TraceSpan } from '../traces/traces.ts'

type Tag = { readonly key: string; readonly type: 'string' | 'bool'; readonly value: string | boolean }
type Reference = { readonly refType: 'CHILD_OF' | 'FOLLOWS_FROM'; readonly traceID: string; readonly spanID: string }

/** A trace as the protocol writes it. Times are microseconds. */
export type JaegerTrace = {
  readonly traceID: string
  readonly spans: readonly JaegerSpan[]
  readonly processes: Readonly<Record<string, { readonly serviceName: string; readonly tags: readonly Tag[] }>>
  readonly warnings: readonly string[] | null
}

type JaegerSpan = {
  readonly traceID: string
  readonly spanID: string
  readonly operationName: string
  readonly references: readonly Reference[]
  readonly startTime: number
  readonly duration: number
  readonly tags: readonly Tag[]
  readonly logs: readonly { readonly timestamp: number; readonly fields: readonly Tag[] }[]
  readonly processID: string
  readonly warnings: null
}

const NS_PER_US = 1_000n

/** Writes the spans of one trace. Spans of a service with the same resource share a process. */
export function shownTrace(traceId: string, spans: readonly TraceSpan[], warning: string | undefined): JaegerTrace {
  const processes = new Map<string, { id: string; serviceName: string; tags: readonly Tag[] }>()
  const shown = spans.map((span): JaegerSpan => {
    const { ofResource, ofSpan } = resourceAttributes(span)
    const resource = JSON.stringify([span.service, ofResource])
    const process = processes.get(resource) ?? { id: `p${processes.size + 1}`, serviceName: span.service, tags: tagsOf(ofResource) }
    processes.set(resource, process)
    return {
      traceID: traceId,
      spanID: span.id,
      operationName: span.name,
      references: [
        ...(span.parentId ? [{ refType: 'CHILD_OF' as const, traceID: traceId, spanID: span.parentId }] : []),
        ...span.links.map(({ trace_id, span_id }) => ({ refType: 'FOLLOWS_FROM' as const, traceID: trace_id, spanID: span_id })),
      ],
      startTime: microseconds(span.startNano),
      duration: Math.round(span.durationNano / Number(NS_PER_US)),
      tags: [...tagsOf(ofSpan), ...kindTags(span), ...statusTags(span)],
      logs: span.events.map(({ name, timeNano, attributes }) => ({
        timestamp: microseconds(timeNano ?? span.startNano),
        fields: [textTag('event', name), ...tagsOf(attributes)],
      })),
      processID: process.id,
      warnings: null,
    }
  })
  return {
    traceID: traceId,
    spans: shown,
    processes: Object.fromEntries([...processes.values()].map(({ id, ...process }) => [id, process])),
    warnings: warning === undefined ? null : [warning],
  }
}

const microseconds = (nano: bigint): number => Number(nano / NS_PER_US)
const textTag = (key: string, value: string): Tag => ({ key, type: 'string', value })
const tagsOf = (attributes: Readonly<Record<string, string>>): Tag[] =>
  Object.entries(attributes).map(([key, value]) => textTag(key, value))

/** `SPAN_KIND_SERVER` is the tag `span.kind` with the value `server`. */
export const kindText = (kind: string): string => kind.replace(/^SPAN_KIND_/, '').toLowerCase()
const kindTags = ({ kind }: TraceSpan): Tag[] => [textTag('span.kind', kindText(kind))]

function statusTags({ status, statusMessage }: TraceSpan): Tag[] {
  if (status === 'unset') return []
  return [
    textTag('otel.status_code', status.toUpperCase()),
    ...(statusMessage === undefined ? [] : [textTag('otel.status_description', statusMessage)]),
    ...(status === 'error' ? [{ key: 'error', type: 'bool' as const, value: true }] : []),
  ]
}
