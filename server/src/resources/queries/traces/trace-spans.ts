import { TRACE_SPANS_MAX } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import {
  attributesOf,
  isNear,
  type RecordedSpan,
  type RecordedSpanEvent,
  recordedSpan,
  type SpanLink,
  sentStart,
  spanEvents,
  spanLinks,
} from './recorded-span.ts'
import { inTraces } from './span-filter.ts'
import { isSpan } from './trace-id.ts'

/** A span with everything that its sender recorded. */
export type TraceSpan = RecordedSpan & {
  readonly traceId: string
  /** Of the span and of its resource; names begin with `$`. */
  readonly attributes: Readonly<Record<string, string>>
  readonly events: readonly RecordedSpanEvent[]
  readonly links: readonly SpanLink[]
}

export function traceSpan(event: FoundEvent): TraceSpan {
  const span = recordedSpan(event)
  const ahead = span.startNano - (sentStart(event.leaves) ?? span.startNano)
  const believed = (time: bigint | undefined) => (time !== undefined && isNear(time + ahead, span.startNano) ? time + ahead : undefined)
  return {
    ...span,
    traceId: (event.leaves.get('$span.trace_id') ?? '').toLowerCase(),
    attributes: attributesOf(event.leaves),
    events: spanEvents(event.leaves).map((one) => ({ ...one, timeNano: believed(one.timeNano) })),
    links: spanLinks(event.leaves),
  }
}

type TraceSelection = {
  readonly ids: readonly string[]
  readonly bounds: TimeBounds
  readonly datasets: readonly DatasetRow[]
  readonly signal: AbortSignal
}

/** Reads the spans of several traces in one statement, oldest first. */
export async function readTraceSpans(
  world: World,
  actor: Actor,
  { ids, ...selection }: TraceSelection,
): Promise<{ readonly spans: readonly TraceSpan[]; readonly isComplete: boolean }> {
  if (ids.length === 0 || selection.datasets.length === 0) return { spans: [], isComplete: true }
  const startedMs = world.clock.monotonicMs()
  const eventQuery = await buildEventQuery(world, actor, { ...selection, filter: and(isSpan(false), inTraces(ids)) })
  const { events, hasMore, cost } = await readEvents(world.events, eventQuery, {
    limit: TRACE_SPANS_MAX,
    newestFirst: false,
    orderBy: { key: '@timestamp', descending: false },
    keys: 'all',
    withRaw: false,
  })
  recordSearch(world, actor, { datasets: selection.datasets, bytes: cost.bytes, startedMs })
  return { spans: events.map(traceSpan), isComplete: !hasMore }
}
