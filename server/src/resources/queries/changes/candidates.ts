import { messageKeys, timeKeys } from '../../../lines/reference/event.ts'
import type { ComparedKey } from '../../../reading/reading.ts'
import { scoreOf } from './score.ts'

/** A sampled event: the texts of its keys, including built-ins. */
export type SampleEvent = { readonly leaves: ReadonlyMap<string, string>; readonly timeMs: number }
export type SkipReason = 'IDENTIFIES_EVENTS' | 'COUNTER' | 'LONG_TEXT' | 'MANY_VALUES' | 'LESS_PROMISING'
export type Candidates = {
  readonly keys: readonly ComparedKey[]
  readonly skipped: readonly { readonly key: string; readonly reason: SkipReason }[]
}

/** A key with more distinct values per event than this identifies events. */
const DISTINCT_MAX = 1 / 3
const FEW_VALUES = 10
/** A key in fewer sampled events is too rare to be significant. */
const SAMPLED_MIN = 3
/** Numbers with more distinct values than this are compared by size. */
const NUMBERS_FEW = 20
const VALUE_CHARS_MAX = 256
/** The correlation of a number with time from which it is a counter. */
const COUNTER_MIN = 0.9
const DIGITS = [1, 2, 5]
/** How many powers of ten numbers are divided by. */
const EXPONENTS = 12
/** Below all numbers that events have. */
const LOWEST = -1e300
/** Numbers are the most expensive to compare. */
const NUMBER_KEYS_MAX = 6
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Names of keys that say where an event comes from or how it ended. They are always compared. */
const SERVICE_NAMES = new Set(
  (
    'service svc app application component module host hostname node instance server pod container namespace cluster deployment region zone ' +
    'az datacenter dc env environment stage level severity status code version release build image tenant customer team method route error ' +
    'exception type kind job queue topic provider logger state result outcome reason plan channel'
  ).split(' '),
)

/** Names of keys that say how something ended. Their values follow from a cause. */
const OUTCOME_NAMES = new Set(
  'level severity status state result outcome reason success ok failed failure timeout retry retries attempt attempts'.split(' '),
)
/** What a code stands for when it says how something ended. */
const CODED = new Set('error err exception http response exit return grpc rpc'.split(' '))
const ERROR_NAMES = new Set('error errors err exception fault'.split(' '))

/** Whether a key names a service or the like: `service.name`, `k8s.pod.name`, `http_status`, `statusCode`. */
export function isServiceLike(key: string): boolean {
  if (key.startsWith('@')) return true
  const last = wordsOf(key).at(-1)
  return last !== undefined && SERVICE_NAMES.has(last)
}

/** Whether a key says how something ended, rather than what it was: `status`, `level`, `error.type`, `@pattern`. */
export function isOutcome(key: string): boolean {
  if (key.startsWith('@')) return key === '@status' || key === '@pattern'
  const words = wordsOf(key)
  const [last = '', before] = words.toReversed()
  if (last === 'code') return before === undefined || OUTCOME_NAMES.has(before) || CODED.has(before)
  return words.some((word) => ERROR_NAMES.has(word)) || OUTCOME_NAMES.has(last)
}

const wordsOf = (key: string): string[] =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && word !== 'name')

const NONE: ReadonlySet<string> = new Set()

/** Chooses the keys to compare by samples of both ranges: service-like keys first, then those whose values promise the highest score. `ids` are never compared. */
export function chooseKeys(
  now: readonly SampleEvent[],
  before: readonly SampleEvent[],
  {
    columnKeys,
    keysMax,
    ids = NONE,
  }: { readonly columnKeys: readonly string[]; readonly keysMax: number; readonly ids?: ReadonlySet<string> },
): Candidates {
  const names = new Set([...now, ...before].flatMap(({ leaves }) => [...leaves.keys()]))
  for (const key of columnKeys) if (isServiceLike(key)) names.add(key)
  const skipped: { key: string; reason: SkipReason }[] = []
  const chosen: { key: ComparedKey; isFirst: boolean; score: number }[] = []
  for (const key of names) {
    if (key === '@pattern' || messageKeys.includes(key) || timeKeys.includes(key) || key.startsWith('$ingest.')) continue
    if (ids.has(key)) {
      skipped.push({ key, reason: 'IDENTIFIES_EVENTS' })
      continue
    }
    const samples = { now: textsOf(key, now), before: textsOf(key, before) }
    const isFirst = isServiceLike(key)
    const suited = isFirst ? { key } : suitedKey(key, samples)
    if ('reason' in suited) skipped.push(suited)
    else chosen.push({ key: suited, isFirst, score: sampleScore(suited, samples, { now: now.length, before: before.length }) })
  }
  chosen.sort(
    (one, other) => Number(other.isFirst) - Number(one.isFirst) || other.score - one.score || (one.key.key < other.key.key ? -1 : 1),
  )
  const keys: ComparedKey[] = []
  for (const { key } of chosen) {
    const isLeftOut = keys.length >= keysMax || (key.edges && keys.filter(({ edges }) => edges).length >= NUMBER_KEYS_MAX)
    if (isLeftOut) skipped.push({ key: key.key, reason: 'LESS_PROMISING' })
    else keys.push(key)
  }
  return { keys, skipped: skipped.sort((one, other) => (one.key < other.key ? -1 : 1)) }
}

type SampledText = { readonly text: string; readonly timeMs: number }
type Samples = { readonly now: readonly SampledText[]; readonly before: readonly SampledText[] }

const textsOf = (key: string, events: readonly SampleEvent[]): SampledText[] =>
  events.flatMap(({ leaves, timeMs }) => {
    const text = leaves.get(key)
    return text === undefined ? [] : [{ text, timeMs }]
  })

function suitedKey(key: string, samples: Samples): ComparedKey | { key: string; reason: SkipReason } {
  const all = [...samples.now, ...samples.before]
  if (all.length < SAMPLED_MIN) return { key, reason: 'LESS_PROMISING' }
  const distinct = new Set(all.map(({ text }) => text))
  if (distinct.size > NUMBERS_FEW && all.every(({ text }) => NUMBER.test(text) && Number.isFinite(Number(text)))) {
    if (isCounter(all)) return { key, reason: 'COUNTER' }
    return { key, edges: edgesOf(all.map(({ text }) => Number(text))) }
  }
  if (distinct.size > Math.max(FEW_VALUES, all.length * DISTINCT_MAX)) return { key, reason: 'IDENTIFIES_EVENTS' }
  if ([...distinct].some((text) => text.length > VALUE_CHARS_MAX)) return { key, reason: 'LONG_TEXT' }
  return { key }
}

/** Whether numbers rise with time, such as ids that are given out in order: later ones are always new. */
function isCounter(samples: readonly SampledText[]): boolean {
  const byTime = ranksOf(samples.map(({ timeMs }) => timeMs))
  const bySize = ranksOf(samples.map(({ text }) => Number(text)))
  return Math.abs(correlation(byTime, bySize)) > COUNTER_MIN
}

/** The rank of each number; equal ones share their mean rank. */
function ranksOf(numbers: readonly number[]): number[] {
  const order = numbers.map((_, at) => at).sort((one, other) => (numbers[one] ?? 0) - (numbers[other] ?? 0))
  const ranks: number[] = Array(numbers.length).fill(0)
  for (let from = 0; from < order.length; ) {
    let to = from
    while (to + 1 < order.length && numbers[order[to + 1] ?? 0] === numbers[order[from] ?? 0]) to += 1
    for (let at = from; at <= to; at += 1) ranks[order[at] ?? 0] = (from + to) / 2
    from = to + 1
  }
  return ranks
}

function correlation(one: readonly number[], other: readonly number[]): number {
  const mean = (one.length - 1) / 2
  let [product, own, others] = [0, 0, 0]
  for (const [at, rank] of one.entries()) {
    const [a, b] = [rank - mean, (other[at] ?? 0) - mean]
    product += a * b
    own += a * a
    others += b * b
  }
  return own === 0 || others === 0 ? 0 : product / Math.sqrt(own * others)
}

/** Round numbers, 1, 2 and 5 times powers of ten, up to the size of the largest number, and below zero if numbers are. The first lies below all. */
export function edgesOf(numbers: readonly number[]): number[] {
  const largest = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
  const top = Math.floor(Math.log10(Math.max(largest, 1e-200)))
  const exponents = Array.from({ length: EXPONENTS }, (_, at) => top - at)
  const positive = exponents.flatMap((exponent) => DIGITS.map((digit) => Number(`${digit}e${exponent}`)))
  const negative = numbers.some((number) => number < 0) ? positive.map((edge) => -edge) : []
  return [LOWEST, ...negative, 0, ...positive].sort((one, other) => one - other)
}

/** The highest score of a value in the samples. */
function sampleScore({ edges }: ComparedKey, samples: Samples, of: { readonly now: number; readonly before: number }): number {
  const placed = ({ text }: SampledText) => (edges ? String(edges.findLast((edge) => edge <= Number(text))) : text)
  const counts = (side: readonly SampledText[]) => {
    const found = new Map<string, number>()
    for (const sampled of side) found.set(placed(sampled), (found.get(placed(sampled)) ?? 0) + 1)
    return found
  }
  const [now, before] = [counts(samples.now), counts(samples.before)]
  const scores = [...new Set([...now.keys(), ...before.keys()])].map((value) => {
    const [here, there] = [now.get(value) ?? 0, before.get(value) ?? 0]
    // Samples of both ranges have fixed sizes, so they have no rates.
    return scoreOf({ now: here, before: there, nowOf: of.now, beforeOf: of.before, nowMs: of.now, beforeMs: of.before })?.score ?? 0
  })
  return scores.reduce((most, score) => Math.max(most, score), 0)
}
