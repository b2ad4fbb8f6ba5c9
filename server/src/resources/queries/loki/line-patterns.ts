import type { AggregateCall } from '@dendro/language/tree'
import { badField } from '../../../kernel/errors.ts'
import { messageKeys } from '../../../lines/reference/event.ts'
import { WILDCARD } from '../../../patterns/pattern.ts'
import { sliceStartMs } from '../../../query/slices.ts'
import type { EventQuery, FoundEvent, StatsGroup } from '../../../reading/query.ts'
import { readEvents, readStats } from '../../../reading/reading.ts'
import { rawText } from '../../data/event-queries/event-queries.ts'
import { templateWriter } from '../patterns/patterns.ts'
import { boundsOf } from './log-entries.ts'
import { fittingPattern } from './logql/line-pattern.ts'
import { parseLogqlLogs } from './logql/parse.ts'
import { eventQueryOf, planLogs } from './loki-query.ts'
import { type LokiRequest, recordRead } from './request.ts'

const HOUR_MS = 3_600_000
const MS_PER_S = 1_000
const PATTERNS_MAX = 1_000
const POINTS = 250
const POINTS_MAX = 11_000
/** The most counts of one answer. */
const COUNTS_MAX = 500_000
/** More in one statement read the same columns less often. */
const EXAMPLES_AT_ONCE = 1_000

const GROUPS = ['@pattern', '@status']
const CALLS: readonly AggregateCall[] = [{ name: 'count' }, { name: 'last', key: '@sequence' }]

/** Counts the lines of a selector by pattern and level, the most frequent first, in steps of time. A pattern can be used as a line filter. */
export async function listPatterns(request: LokiRequest): Promise<unknown> {
  const { parameters, world, cost } = request
  const logs = parseLogqlLogs(parameters.required('query'))
  const bounds = boundsOf(parameters.range(world.clock.nowMs(), HOUR_MS))
  const slices = slicesOf(bounds.toMs - bounds.fromMs, parameters.milliseconds('step'))
  const planned = await planLogs(request, logs)
  if (planned.rest.length > 0) throw badField('query', 'must be a selector with conditions that need no parser')
  if (planned.datasets.length === 0) return { status: 'success', data: [] }
  const query = await eventQueryOf(request, planned, bounds)
  const limit = Math.min(PATTERNS_MAX, Math.floor(COUNTS_MAX / slices))
  const found = await readStats(world.events, query, { calls: CALLS, groups: GROUPS, slices, limit })
  cost.bytes += found.cost.bytes
  const groups = found.groups.flatMap(patternGroup)
  const patterns = await readLinePatterns(request, query, groups)
  recordRead(request)
  const startsS = Array.from({ length: slices }, (_, index) => Math.floor(sliceStartMs(bounds, slices, index) / MS_PER_S))
  const data = groups.flatMap(({ sequence, level, counts }) => {
    const pattern = patterns.get(sequence)
    const samples = counts.flatMap((count, index) => (count > 0 ? [[startsS[index], count]] : []))
    return pattern === undefined ? [] : [{ pattern, level, samples }]
  })
  return { status: 'success', data }
}

/** Steps have at least a second, and are as long as requested or a little longer, so that they fill the range. */
function slicesOf(rangeMs: number, stepMs: number | undefined): number {
  const slices = Math.max(1, Math.floor(rangeMs / Math.max(MS_PER_S, stepMs ?? rangeMs / POINTS)))
  if (slices > POINTS_MAX) throw badField('step', `is too small: a pattern has at most ${POINTS_MAX} counts`)
  return slices
}

type PatternGroup = { readonly id: string; readonly level: string; readonly sequence: string; readonly counts: readonly number[] }

/** Events without a message have no pattern. */
function patternGroup({ values: [id, level], whole, slices }: StatsGroup): PatternGroup[] {
  const sequence = whole.stats[1]?.value
  if (!id || typeof sequence !== 'string') return []
  return [{ id, level: level ?? '', sequence, counts: slices.map(({ count }) => count) }]
}

/** Writes the pattern of each group by its newest event. Returns them by the sequence numbers of those events. */
async function readLinePatterns(
  { world, actor, cost }: LokiRequest,
  query: EventQuery,
  groups: readonly PatternGroup[],
): Promise<ReadonlyMap<string, string>> {
  const patterns = new Map<string, string>()
  const idOf = new Map(groups.map(({ sequence, id }) => [sequence, id]))
  for (let from = 0; from < groups.length; from += EXAMPLES_AT_ONCE) {
    const some = groups.slice(from, from + EXAMPLES_AT_ONCE)
    const numbers = some.map(({ sequence }) => BigInt(sequence))
    const request = { limit: some.length, newestFirst: true, keys: messageKeys, withRaw: true, numbers }
    const { events, cost: own } = await readEvents(world.events, { ...query, filter: { kind: 'all' } }, request)
    cost.bytes += own.bytes
    const logIds = [...new Set(events.map(({ logId }) => logId))]
    const write = await templateWriter(world, actor.orgId, { logIds, ids: some.map(({ id }) => id) })
    for (const event of events) patterns.set(String(event.seq), linePatternFor(event, idOf.get(String(event.seq)) ?? '', write))
  }
  return patterns
}

function linePatternFor({ leaves, raw, logId }: FoundEvent, id: string, write: Awaited<ReturnType<typeof templateWriter>>): string {
  const message = messageKeys.map((key) => leaves.get(key)).find((text) => text)
  const line = rawText(raw)
  return fittingPattern(write({ id, log_id: logId }, message, line), WILDCARD, line)
}
