import { useInfiniteQuery } from '@tanstack/react-query'
import { useClient } from '../../parts/client.ts'
import { boundsOf } from '../../parts/time-range.ts'
import type { DendroClient } from '../../session/session.ts'
import { type Finding, findingsOf, type Tally } from './difference.ts'
import { quoted } from './groups.ts'
import { countPatterns, mergePatterns, PATTERNS_MAX } from './patterns.ts'
import { costOf, filterOf, keyOf, type Question, sourceOf } from './questions.ts'

export type Stretch = { fromMs: number; toMs: number }

/** A Compared is what some keys, and at first the patterns, have told. */
type Compared = {
  findings: Finding[]
  /** templates are what the found patterns say, by their ids. */
  templates: ReadonlyMap<string, string>
  /** cut are the keys with more values than were counted. */
  cut: string[]
  here: number
  rest: number
  /** bytes are what the searches have read, patterns do not tell theirs; ms is what all of it took. */
  bytes: number
  ms: number
  whole: Stretch
  next: number
}

/** KEYS_AT_ONCE are compared before anybody asks for more; each is two questions. */
const KEYS_AT_ONCE = 8
const TALKING_MAX = 4
const VALUES_MAX = 1_000

/** useDifference holds a chosen stretch against the rest of the range: patterns and keys are counted in both, exactly. */
export function useDifference(question: Question, stretch: Stretch | undefined, keys: readonly string[]) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: ['difference', ...keyOf(question), stretch, keys],
    enabled: stretch !== undefined && keys.length > 0,
    initialPageParam: { at: 0, whole: undefined as Stretch | undefined },
    queryFn: async ({ pageParam, signal }): Promise<Compared> => {
      const startedMs = performance.now()
      const whole = pageParam.whole ?? boundsOf(question.range, Date.now())
      const here = clipped(stretch ?? whole, whole)
      const some = keys.slice(pageParam.at, pageParam.at + KEYS_AT_ONCE)
      const ask = { client, question, here, whole, signal }
      const patterns = pageParam.at === 0 ? await comparePatterns(ask) : undefined
      const compared = await eachOf(some, (key) => compareKey(ask, key))
      const first = compared[0]
      return {
        findings: [...(patterns?.findings ?? []), ...compared.flatMap(({ findings }) => findings)],
        templates: patterns?.templates ?? new Map(),
        cut: compared.flatMap(({ key, isCut }) => (isCut ? [key] : [])),
        here: first?.here ?? 0,
        rest: first?.rest ?? 0,
        bytes: compared.reduce((sum, one) => sum + one.bytes, 0),
        ms: performance.now() - startedMs,
        whole,
        next: pageParam.at + KEYS_AT_ONCE,
      }
    },
    getNextPageParam: ({ next, whole }: Compared) => (next < keys.length ? { at: next, whole } : undefined),
  })
}

type Ask = { client: DendroClient; question: Question; here: Stretch; whole: Stretch; signal: AbortSignal }

const clipped = (one: Stretch, { fromMs, toMs }: Stretch): Stretch => {
  const from = Math.min(Math.max(one.fromMs, fromMs), toMs - 1)
  return { fromMs: from, toMs: Math.max(from + 1, Math.min(one.toMs, toMs)) }
}

async function compareKey(ask: Ask, key: string) {
  const [here, whole] = await Promise.all([tallyOf(ask, key, ask.here), tallyOf(ask, key, ask.whole)])
  return {
    key,
    findings: findingsOf(key, here, whole),
    isCut: here.isCut || whole.isCut,
    here: here.total,
    rest: whole.total - here.total,
    bytes: here.bytes + whole.bytes,
  }
}

async function tallyOf({ client, question, signal }: Ask, key: string, { fromMs, toMs }: Stretch): Promise<Tally & { bytes: number }> {
  const body = {
    ...sourceOf(question),
    ...filterOf(question),
    from_ts: Math.max(0, Math.floor(fromMs)),
    to_ts: Math.ceil(toMs),
    select: ['count(*)'],
    groups: [quoted(key)],
    num_of_slices: 1,
    limit: VALUES_MAX,
  }
  const answer = await client.search.run({ body, signal, repeatable: true })
  const { groups_series, totals } = answer
  return {
    bytes: costOf(answer).bytes ?? 0,
    counts: new Map(groups_series.map(({ name, count }) => [name, Number(count)])),
    total: Number(totals.count),
    isCut: Number(totals.total_groups ?? 0) > Number(totals.retrieved_groups ?? 0),
  }
}

async function comparePatterns({ client, question, here, whole, signal }: Ask) {
  const [inside, all] = await Promise.all(
    [here, whole].map(async (range) => {
      const rows = await countPatterns(client, { ...question, range }, signal)
      const patterns = mergePatterns(rows)
      const counts = new Map(patterns.map(({ id, count }) => [id, count]))
      const total = patterns.reduce((sum, { count }) => sum + count, 0)
      return { tally: { counts, total, isCut: rows.length >= PATTERNS_MAX }, patterns }
    }),
  )
  if (!inside || !all) return undefined
  return {
    findings: findingsOf('@pattern', inside.tally, all.tally),
    templates: new Map([...all.patterns, ...inside.patterns].map(({ id, template }) => [id, template])),
  }
}

/** eachOf asks a few at a time, in their order. */
async function eachOf<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let from = 0; from < items.length; from += TALKING_MAX)
    answers.push(...(await Promise.all(items.slice(from, from + TALKING_MAX).map(ask))))
  return answers
}
