import type { TraceSummary } from '@dendro/api'
import type { FoundEvent, StatsGroup } from '../../../reading/query.ts'
import { boundedNanos, isNear, type RecordedSpan, recordedSpan } from './recorded-span.ts'
import { weightOf } from './sampled-spans.ts'
import { parseTraceId } from './trace-id.ts'

type SpanSummary = TraceSummary['found']
type ServiceCount = TraceSummary['services'][number]

const SERVICES_MAX = 20
const NS_PER_MS = 1_000_000n

/** What was read about some traces: one matching span of each, their roots, and their spans by trace, service and status. */
export type SummaryParts = {
  readonly found: ReadonlyMap<string, FoundEvent>
  /** The longest first. */
  readonly roots: readonly FoundEvent[]
  readonly groups: readonly StatsGroup[]
}

/** Describes traces in the order in which they were found. */
export function traceSummaries({ found, roots, groups }: SummaryParts): TraceSummary[] {
  const byTrace = Map.groupBy(groups, ({ values: [id] }) => id)
  const rootOf = new Map<string, FoundEvent>()
  for (const root of roots) {
    const id = traceIdOf(root)
    if (id !== undefined && !rootOf.has(id)) rootOf.set(id, root)
  }
  return [...found].map(([id, event]) => summaryOf(id, event, rootOf.get(id), byTrace.get(id) ?? []))
}

/** The trace id that a span has, as it was stored. Undefined if it is no id. */
export function traceIdOf({ leaves }: Pick<FoundEvent, 'leaves'>): string | undefined {
  const id = leaves.get('$span.trace_id')
  return id !== undefined && parseTraceId(id) !== undefined ? id : undefined
}

function summaryOf(id: string, event: FoundEvent, root: FoundEvent | undefined, groups: readonly StatsGroup[]): TraceSummary {
  const found = recordedSpan(event)
  // A sender may leave out times. The span that was found always has a time.
  const rootSpan = root && recordedSpan(root)
  const near = (time: bigint | undefined) => (time !== undefined && isNear(time, found.startNano) ? time : undefined)
  const start = groups.map((group) => near(timeIn(group, 0))).reduce(least, least(found.startNano, rootSpan?.startNano))
  const end = groups.map((group) => near(timeIn(group, 1))).reduce(most, endOf(found))
  const services = servicesOf(groups)
  const weight = weightOf(event)
  return {
    trace_id: parseTraceId(id) ?? id,
    start_time: Number(start / NS_PER_MS),
    start_time_unix_nano: String(start),
    duration_nano: boundedNanos(Math.max(0, Number(end - start))),
    spans: sumOf(services, 'spans'),
    errors: sumOf(services, 'errors'),
    services: services.slice(0, SERVICES_MAX),
    services_total: services.length,
    ...(root ? { root: shown(root) } : {}),
    found: shown(event),
    ...(weight > 1 ? { weight } : {}),
  }
}

function shown(event: FoundEvent): SpanSummary {
  const { id, service, name, status, startNano, durationNano } = recordedSpan(event)
  return { span_id: id, service, name, status, start_time_unix_nano: String(startNano), duration_nano: durationNano }
}

/** Nanoseconds since 1970 are beyond what a float represents. */
function timeIn({ whole }: StatsGroup, call: number): bigint | undefined {
  const { value, exact } = whole.stats[call] ?? {}
  if (exact !== undefined) return exact
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined
}

const endOf = ({ startNano, durationNano }: RecordedSpan): bigint => startNano + BigInt(durationNano)

const least = (one: bigint, other: bigint | undefined): bigint => (other !== undefined && other < one ? other : one)
const most = (one: bigint, other: bigint | undefined): bigint => (other !== undefined && other > one ? other : one)

function servicesOf(groups: readonly StatsGroup[]): readonly ServiceCount[] {
  const services = new Map<string, ServiceCount>()
  for (const {
    values: [, service, code],
    whole: { count },
  } of groups) {
    const known = services.get(service ?? '') ?? { service: service ?? '', spans: 0, errors: 0 }
    known.spans += count
    if (code === 'STATUS_CODE_ERROR') known.errors += count
    services.set(known.service, known)
  }
  return [...services.values()].sort((one, other) => other.spans - one.spans || (one.service < other.service ? -1 : 1))
}

const sumOf = (services: readonly ServiceCount[], member: 'spans' | 'errors'): number =>
  services.reduce((sum, service) => sum + service[member], 0)
