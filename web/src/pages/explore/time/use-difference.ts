import { useInfiniteQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/client.ts'
import { boundsOf } from '../../../parts/time-range.ts'
import type { DendroClient } from '../../../session/session.ts'
import { quotedField } from '../groups/groups.ts'
import { countPatterns, mergePatterns, PATTERNS_MAX } from '../patterns/patterns.ts'
import { costOf, type ExploreQuery, filterOf, queryKeyOf, sourceOf } from '../query/explore-query.ts'
import { differencesOf, type ValueCounts, type ValueDifference } from './difference.ts'

export type TimeSpan = { fromMs: number; toMs: number }

/** A DifferencePage holds the differences of some fields; the first page also those of patterns. */
type DifferencePage = {
  differences: ValueDifference[]
  /** templates are the pattern templates by pattern id. */
  templates: ReadonlyMap<string, string>
  /** truncated are the fields with more values than were counted. */
  truncated: string[]
  here: number
  rest: number
  /** bytes are those read by the searches, without patterns, which do not report them; ms is the total time. */
  bytes: number
  ms: number
  whole: TimeSpan
  next: number
}

/** FIELDS_PER_PAGE are compared at once; each takes two queries. */
const FIELDS_PER_PAGE = 8
const PARALLEL_MAX = 4
const VALUES_MAX = 1_000

/** useDifference compares the selection with the rest of the range by exact counts of patterns and field values. */
export function useDifference(query: ExploreQuery, timeSpan: TimeSpan | undefined, fields: readonly string[]) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: ['difference', ...queryKeyOf(query), timeSpan, fields],
    enabled: timeSpan !== undefined && fields.length > 0,
    initialPageParam: { at: 0, whole: undefined as TimeSpan | undefined },
    queryFn: async ({ pageParam, signal }): Promise<DifferencePage> => {
      const startedMs = performance.now()
      const whole = pageParam.whole ?? boundsOf(query.range, Date.now())
      const here = clip(timeSpan ?? whole, whole)
      const pageFields = fields.slice(pageParam.at, pageParam.at + FIELDS_PER_PAGE)
      const request = { client, query, here, whole, signal }
      const patterns = pageParam.at === 0 ? await comparePatterns(request) : undefined
      const compared = await inBatches(pageFields, (field) => compareField(request, field))
      const first = compared[0]
      return {
        differences: [...(patterns?.differences ?? []), ...compared.flatMap(({ differences }) => differences)],
        templates: patterns?.templates ?? new Map(),
        truncated: compared.flatMap(({ field, isTruncated }) => (isTruncated ? [field] : [])),
        here: first?.here ?? 0,
        rest: first?.rest ?? 0,
        bytes: compared.reduce((sum, one) => sum + one.bytes, 0),
        ms: performance.now() - startedMs,
        whole,
        next: pageParam.at + FIELDS_PER_PAGE,
      }
    },
    getNextPageParam: ({ next, whole }: DifferencePage) => (next < fields.length ? { at: next, whole } : undefined),
  })
}

type CompareRequest = { client: DendroClient; query: ExploreQuery; here: TimeSpan; whole: TimeSpan; signal: AbortSignal }

const clip = (one: TimeSpan, { fromMs, toMs }: TimeSpan): TimeSpan => {
  const from = Math.min(Math.max(one.fromMs, fromMs), toMs - 1)
  return { fromMs: from, toMs: Math.max(from + 1, Math.min(one.toMs, toMs)) }
}

async function compareField(request: CompareRequest, field: string) {
  const [here, whole] = await Promise.all([countValues(request, field, request.here), countValues(request, field, request.whole)])
  return {
    field,
    differences: differencesOf(field, here, whole),
    isTruncated: here.isTruncated || whole.isTruncated,
    here: here.total,
    rest: whole.total - here.total,
    bytes: here.bytes + whole.bytes,
  }
}

async function countValues(
  { client, query, signal }: CompareRequest,
  field: string,
  { fromMs, toMs }: TimeSpan,
): Promise<ValueCounts & { bytes: number }> {
  const body = {
    ...sourceOf(query),
    ...filterOf(query),
    from_ts: Math.max(0, Math.floor(fromMs)),
    to_ts: Math.ceil(toMs),
    select: ['count(*)'],
    groups: [quotedField(field)],
    num_of_slices: 1,
    limit: VALUES_MAX,
  }
  const response = await client.search.run({ body, signal, repeatable: true })
  const { groups_series, totals } = response
  return {
    bytes: costOf(response).bytes ?? 0,
    counts: new Map(groups_series.map(({ name, count }) => [name, Number(count)])),
    total: Number(totals.count),
    isTruncated: Number(totals.total_groups ?? 0) > Number(totals.retrieved_groups ?? 0),
  }
}

async function comparePatterns({ client, query, here, whole, signal }: CompareRequest) {
  const countIn = async (range: TimeSpan) => {
    const rows = await countPatterns(client, { ...query, range }, signal)
    const patterns = mergePatterns(rows)
    const counts = new Map(patterns.map(({ id, count }) => [id, count]))
    const total = patterns.reduce((sum, { count }) => sum + count, 0)
    return { tally: { counts, total, isTruncated: rows.length >= PATTERNS_MAX }, patterns }
  }
  // New patterns get their families when they are first counted, so the whole range is counted before its part.
  const all = await countIn(whole)
  const inside = await countIn(here)
  return {
    differences: differencesOf('@pattern', inside.tally, all.tally),
    templates: new Map([...all.patterns, ...inside.patterns].map(({ id, template }) => [id, template])),
  }
}

/** inBatches runs a few requests at a time and keeps their order. */
async function inBatches<T, R>(items: readonly T[], request: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < items.length; from += PARALLEL_MAX)
    results.push(...(await Promise.all(items.slice(from, from + PARALLEL_MAX).map(request))))
  return results
}
