import type { ProposedWidget } from '@dendro/api'
import { printFilter, printKey } from '@dendro/language/print'
import type { Filter } from '@dendro/language/tree'
import { groupable, type KeyFacts, measurable } from './key-facts.ts'

/** The content of a widget, stored between two requests. */
export type WidgetChoice = {
  readonly from: readonly string[]
  readonly type: ProposedWidget['type']
  readonly select: string
  readonly where: string
  /** As the query language writes them. */
  readonly groups: readonly string[]
  readonly timeRange: string
}

export type WidgetProposal = { readonly choice: WidgetChoice; readonly reasons: readonly string[] }
export type WidgetInput = {
  readonly from: readonly string[]
  readonly keys: readonly KeyFacts[]
  readonly previous: WidgetChoice | undefined
}

const RANGE = 'Last 1 day'

/** Interprets a request by its words and the keys of the data; the rest comes from the previous choice, then from the data. */
export function choose(request: string, { from, keys, previous }: WidgetInput): WidgetProposal {
  const reasons: string[] = []
  const words = plain(request)
  const mentioned = keysIn(words, keys)
  const measure = measureIn(words, mentioned, keys)
  const named = groupsIn(words, keys)
  const groups = named?.map(keyText)
  const where = conditionIn(request, words, keys, named ?? [])
  const type = typeIn(words)
  const isSilent = measure === undefined && groups === undefined && where === undefined
  if (isSilent && previous === undefined)
    return { choice: { ...fromData(keys, reasons), from, type: type ?? 'line', timeRange: rangeIn(request) ?? RANGE }, reasons }
  const select = measure ?? previous?.select ?? 'count(*)'
  const by = groups ?? previous?.groups ?? []
  if (measure !== undefined) reasons.push(`${select} is what the wish measures`)
  if (groups?.length) reasons.push(`${groups.join(', ')} is what it is split by`)
  if (where !== undefined) reasons.push(`only events where ${where} count`)
  const choice = {
    from,
    select,
    groups: by,
    where: where ?? previous?.where ?? '',
    timeRange: rangeIn(request) ?? previous?.timeRange ?? RANGE,
  }
  return { choice: { ...choice, type: type ?? previous?.type ?? usualType(select, by) }, reasons }
}

/** Proposes a widget from the keys alone. */
function fromData(keys: readonly KeyFacts[], reasons: string[]): Pick<WidgetChoice, 'select' | 'groups' | 'where'> {
  const [measured] = measurable(keys)
  const [grouped] = groupable(keys)
  if (measured)
    reasons.push(`${measured.key} is a number that ${percent(measured.share)} of the events have, so its 95th percentile is worth seeing`)
  else reasons.push('no key of the data is a number worth measuring, so events are counted')
  if (grouped) reasons.push(`${grouped.key} has ${grouped.distinct} values, few enough to tell apart`)
  return { select: measured ? `p95(${keyText(measured.key)})` : 'count(*)', groups: grouped ? [keyText(grouped.key)] : [], where: '' }
}

/** Further widgets that the data supports. */
export function suggestionsOf(keys: readonly KeyFacts[], { select, groups }: WidgetChoice): string[] {
  const [kinds, numbers] = [groupable(keys), measurable(keys)]
  const all = [
    ...numbers
      .slice(0, 2)
      .flatMap(({ key }) =>
        [`avg(${keyText(key)})`, `p95(${keyText(key)})`].map(
          (call) => `${call}${kinds[0] ? ` by ${keyText(kinds[0].key)}` : ''}, as lines`,
        ),
      ),
    ...kinds.slice(0, 3).map(({ key }) => `count(*) by ${keyText(key)}, as bars`),
    'count(*) by @status, as an area',
  ]
  return all.filter((one) => !one.startsWith(`${select}${groups[0] === undefined ? '' : ` by ${groups[0]}`},`)).slice(0, 3)
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

export const keyText = printKey

/** Normalizes a text for word search: lower case, single spaces around each word. */
const plain = (text: string): string =>
  ` ${text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}%]+/gu, ' ')
    .trim()} `

/** The keys that a text names with their positions, longest names first. */
function keysIn(words: string, keys: readonly KeyFacts[]): { facts: KeyFacts; at: number }[] {
  const byLength = [...keys].sort((one, other) => other.key.length - one.key.length)
  const found: { facts: KeyFacts; at: number; end: number }[] = []
  for (const facts of byLength) {
    for (const name of [plain(facts.key), plain(facts.key.split('.').at(-1) ?? '')]) {
      const at = name.trim() === '' ? -1 : words.indexOf(name)
      if (at < 0 || found.some((other) => at < other.end - 1 && other.at < at + name.length - 1)) continue
      found.push({ facts, at, end: at + name.length })
      break
    }
  }
  return found.sort((one, other) => one.at - other.at)
}

const FUNCTIONS: readonly (readonly [words: RegExp, call: (key: string) => string, wantsNumber: boolean])[] = [
  [/ (?:p|percentile )(50|75|90|95|99) | (50|75|90|95|99)(?:th)? percentile /, (key) => `p95(${key})`, true],
  [/ (median) /, (key) => `median(${key})`, true],
  [/ (average|avg|mean) /, (key) => `avg(${key})`, true],
  [/ (max|maximum|highest|largest|biggest|slowest) /, (key) => `max(${key})`, true],
  [/ (min|minimum|lowest|smallest|fastest) /, (key) => `min(${key})`, true],
  [/ (sum|total) /, (key) => `sum(${key})`, true],
  [/ (unique|distinct|different) /, (key) => `unique(${key})`, false],
  [/ (slow|latency|latencies|response times?|durations?) /, (key) => `p95(${key})`, true],
]

function measureIn(words: string, mentioned: readonly { facts: KeyFacts; at: number }[], keys: readonly KeyFacts[]): string | undefined {
  const split = splitAt(words)
  const own = mentioned.filter(({ at }) => at < split).map(({ facts }) => facts)
  for (const [pattern, call, wantsNumber] of FUNCTIONS) {
    const match = pattern.exec(words)
    if (!match) continue
    const fitting = wantsNumber ? (own.find(({ isNumber }) => isNumber) ?? measurable(keys)[0]) : own[0]
    const requested = match[1] ?? match[2]
    if (fitting) return /^\d+$/.test(requested ?? '') ? `p${requested}(${keyText(fitting.key)})` : call(keyText(fitting.key))
  }
  if (/ (rate|per second) /.test(words)) return 'rate(*)'
  if (/ (count|counts|number|how many|how often|errors?|failures?|warnings?|requests?|events?|logs?|lines?) /.test(words)) return 'count(*)'
  const number = own.find(({ isNumber, distinct }) => isNumber && distinct > 2)
  return number ? `avg(${keyText(number.key)})` : undefined
}

/** The position of the words that name the grouping. */
function splitAt(words: string): number {
  const at = words.search(/ (by|per(?! second)|for each|for every|grouped|split) /)
  return at < 0 ? words.length : at
}

function groupsIn(words: string, keys: readonly KeyFacts[]): string[] | undefined {
  const rest = words.slice(splitAt(words))
  const named = keysIn(rest, keys).map(({ facts }) => facts.key)
  if (named.length > 0) return named.slice(0, 2)
  if (rest !== '' && / (dataset|log|service|application) /.test(rest)) return ['@dataset']
  if (rest !== '' && / (status|level|severity) /.test(rest)) return ['@status']
  if (/ (most|top|which) /.test(words)) {
    const [requested] = keysIn(words, keys).filter(({ facts }) => facts.values.length > 0)
    if (requested) return [requested.facts.key]
  }
  return undefined
}

function conditionIn(request: string, words: string, keys: readonly KeyFacts[], groups: readonly string[]): string | undefined {
  const at = { position: 0, length: 0 }
  const is = (key: string, text: string): Filter => ({ kind: 'compare', key, operator: '=', value: { kind: 'text', text }, at })
  const parts: Filter[] = []
  const quoted = /"([^"]{1,200})"/.exec(request)?.[1]
  if (quoted !== undefined) parts.push({ kind: 'contains', text: quoted, at })
  if (/ (errors?|failures?|failed|failing) /.test(words) && !groups.includes('@status')) parts.push(is('@status', 'error'))
  else if (/ (warnings?|warned) /.test(words)) parts.push(is('@status', 'warn'))
  for (const { key, values } of keys.filter((one) => !groups.includes(one.key) && (!one.isNumber || / /.test(one.key)))) {
    const value = values.find((one) => /\p{L}{3}/u.test(one) && words.includes(plain(one)))
    if (value !== undefined && !/^(error|warn|warning)$/i.test(value)) parts.push(is(key, value))
    if (parts.length >= 3) break
  }
  const [only] = parts
  return only === undefined ? undefined : printFilter(parts.length === 1 ? only : { kind: 'and', of: parts })
}

const TYPES: readonly (readonly [words: RegExp, type: WidgetChoice['type']])[] = [
  [/ (pie|share|shares|proportion|distribution) /, 'pie'],
  [/ (treemap|tree map) /, 'treemap'],
  [/ (top|most|table|list|ranking) /, 'top-list'],
  [/ (score|single|one number|big number|gauge) /, 'score'],
  [/ (area|stacked) /, 'area'],
  [/ (bar|bars|histogram|columns) /, 'bar'],
  [/ (line|lines|trend|over time|timeline) /, 'line'],
]

const typeIn = (words: string): WidgetChoice['type'] | undefined => TYPES.find(([pattern]) => pattern.test(words))?.[1]

const usualType = (select: string, groups: readonly string[]): WidgetChoice['type'] =>
  groups.length > 0 && /^(count|sum)\(/.test(select) ? 'bar' : 'line'

const rangeIn = (request: string): string | undefined =>
  /\blast (?:\d{1,4} )?(?:minute|hour|day|week|month)s?\b|\btoday\b|\byesterday\b|\bthis week\b/i.exec(request)?.[0]
