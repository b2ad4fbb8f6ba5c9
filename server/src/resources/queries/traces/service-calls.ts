import type { CallList } from '@dendro/api'
import { isClientOf } from './tree.ts'

type Calls = CallList['calls'][number]
type Kind = Calls['kind']

/** What is known of a span to find whom it called. */
export type CallSpan = {
  readonly traceId: string
  readonly id: string
  readonly parentId: string | undefined
  readonly service: string
  readonly kind: string
  readonly isFailed: boolean
  readonly durationNano: number
  /** Whom it calls, as its attributes say. */
  readonly peer: { readonly name: string; readonly kind: Kind } | undefined
  /** How many spans it stands for. */
  readonly weight: number
}

/** The attributes that name whom a span calls, the more telling ones first. */
export const peerKeys = [
  ['$peer.service', 'peer'],
  ['$db.system.name', 'database'],
  ['$db.system', 'database'],
  ['$messaging.system', 'queue'],
  ['$server.address', 'peer'],
  ['$net.peer.name', 'peer'],
] as const satisfies readonly (readonly [string, Kind])[]

const callers: ReadonlySet<string> = new Set(['SPAN_KIND_CLIENT', 'SPAN_KIND_PRODUCER'])

type Counted = {
  readonly from: string
  readonly to: string
  readonly kind: Kind
  calls: number
  errors: number
  readonly durations: Measured[]
}
type Measured = { readonly nano: number; readonly weight: number }
/** Calls that were counted in some of the spans. `weight` is how many spans each of them stands for. */
type Counting = { readonly weight: number; readonly seconds: number }

/** Counts the calls between services in the spans of whole traces, most first. */
export function serviceCalls(spans: readonly CallSpan[], { weight, seconds }: Counting): Calls[] {
  const byId = Map.groupBy(spans, ({ traceId, id }) => keyOf(traceId, id))
  const counted = new Map<string, Counted>()
  const answered = new Set<CallSpan>()
  const add = (from: string, to: string, kind: Kind, { isFailed, durationNano, weight: own }: CallSpan) => {
    const key = JSON.stringify([from, to, kind])
    const known = counted.get(key) ?? { from, to, kind, calls: 0, errors: 0, durations: [] }
    counted.set(key, known)
    known.durations.push({ nano: durationNano, weight: own })
    known.calls += own
    if (isFailed) known.errors += own
  }
  for (const span of spans) {
    const parent = callerOf(span, byId)
    if (!parent || parent.service === span.service) continue
    answered.add(parent)
    add(parent.service, span.service, 'service', span)
  }
  for (const span of spans) {
    if (span.peer && callers.has(span.kind) && !answered.has(span)) add(span.service, span.peer.name, span.peer.kind, span)
  }
  return [...counted.values()].map((calls) => shown(calls, { weight, seconds })).sort(mostFirst)
}

/** The parent of a span. A client and its server may have one id. */
function callerOf(span: CallSpan, byId: ReadonlyMap<string, readonly CallSpan[]>): CallSpan | undefined {
  const client = byId.get(keyOf(span.traceId, span.id))?.find((other) => isClientOf(other, span))
  if (client || span.parentId === undefined) return client
  const found = byId.get(keyOf(span.traceId, span.parentId)) ?? []
  return found.find(({ service }) => service === span.service) ?? found.at(-1)
}

const keyOf = (traceId: string, id: string): string => `${traceId} ${id}`

function shown({ from, to, kind, calls: counted, errors, durations }: Counted, { weight, seconds }: Counting): Calls {
  const sorted = durations.toSorted((one, other) => one.nano - other.nano)
  const calls = Math.round(counted * weight)
  /** The duration below which a part of the calls lies, each by its weight. */
  const at = (part: number): number => {
    let below = 0
    for (const { nano, weight: own } of sorted) {
      below += own
      if (below > part * counted) return nano
    }
    return sorted.at(-1)?.nano ?? 0
  }
  return {
    from,
    to,
    kind,
    calls,
    per_second: seconds > 0 ? calls / seconds : 0,
    errors: Math.round(errors * weight),
    p50_nano: at(0.5),
    p95_nano: at(0.95),
    max_nano: at(1),
  }
}

const mostFirst = (one: Calls, other: Calls): number =>
  other.calls - one.calls || (JSON.stringify([one.from, one.to]) < JSON.stringify([other.from, other.to]) ? -1 : 1)
