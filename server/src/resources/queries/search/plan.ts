import type { SearchAsk } from '@dendro/api'
import type { Filter, Order, SelectItem } from '@dendro/language/tree'
import { badRequest, Failure, type FieldProblem } from '../../../kernel/errors.ts'
import { parseFilter, parseGroups, parseOrderBy, parseSelect, parseTimeRange, refusal } from '../../../query/query.ts'
import type { Bounds } from '../../../reading/question.ts'
import type { CallItem } from '../../data/event-queries/event-queries.ts'

export type Warnings = readonly FieldProblem[]

/** What every plan says: which events, of when, and what of them is wanted. */
type Planned = {
  /** where is the text of the filter. */
  readonly where: string
  readonly filter: Filter
  readonly bounds: Bounds
  readonly warnings: Warnings
  /** selected is the select as it was sent. */
  readonly selected: readonly string[]
  readonly limit: number
}

export type EventsPlan = Planned & {
  readonly kind: 'events'
  readonly items: readonly SelectItem[]
  readonly newestFirst: boolean
  readonly orderBy: Order | undefined
  readonly fromSequence: bigint | undefined
}

export type StatsPlan = Planned & {
  readonly kind: 'stats'
  readonly calls: readonly CallItem[]
  readonly groups: readonly string[]
  readonly slices: number
}

export type SearchPlan = EventsPlan | StatsPlan

const LIMIT = 100
const SLICES = 10
const DEFAULT_RANGE = 'last 20 minutes'
/** CELLS_MAX bounds an answer of groups with their slices. */
const CELLS_MAX = 1_000_000
const COUNT: CallItem = { kind: 'call', call: { name: 'count' }, name: 'count(*)' }
/** What an answer says of itself under these names cannot be the name of a result too. */
const TAKEN_NAMES = new Set(['count', 'timeseries', 'total_groups', 'retrieved_groups', 'group', 'stat', 'value', '@time', '@timestamp'])

type Parts = {
  filter: ReturnType<typeof parseFilter>
  items: readonly SelectItem[]
  groups: readonly string[]
  orderBy: Order | undefined
  bounds: Bounds
}

/** planSearch reads a question: everything that is wrong with it is a 400 that names each field at fault. */
export function planSearch(ask: SearchAsk, nowMs: number): SearchPlan {
  const parts = gather<Parts>({
    filter: () => parseFilter(ask.where ?? ''),
    items: () => selectOf(ask.select),
    groups: () => parseGroups(ask.groups ?? []),
    orderBy: () => (ask.order_by?.trim() ? parseOrderBy(ask.order_by) : undefined),
    bounds: () => boundsOf(ask, nowMs, DEFAULT_RANGE),
  })
  const { filter, warnings } = parts.filter
  const planned = { where: ask.where ?? '', filter, warnings, bounds: parts.bounds, selected: ask.select ?? [], limit: ask.limit ?? LIMIT }
  const calls = parts.items.filter((item) => item.kind === 'call')
  if (calls.length === 0 && parts.groups.length === 0) return { ...planned, ...eventsPart(ask, parts) }
  return { ...planned, ...statsPart(ask, parts, calls) }
}

function selectOf(select: readonly string[] | undefined): readonly SelectItem[] {
  if (!select || select.every((item) => item.trim() === '')) {
    throw refusal('select', { code: 'EMPTY_SELECT', position: 0, message: 'at least one item', hint: 'for events use *' })
  }
  return parseSelect(select.filter((item) => item.trim() !== ''))
}

function eventsPart(ask: SearchAsk, { items, orderBy }: Parts) {
  if (ask.from_sequence !== undefined && ask.from_ts === undefined) {
    throw refusal('from_sequence', { code: 'MISSING_PAIR', message: 'needs from_ts' })
  }
  return { kind: 'events' as const, items, newestFirst: ask.most_recent_first ?? true, orderBy, fromSequence: ask.from_sequence }
}

function statsPart(ask: SearchAsk, { items, groups, orderBy }: Parts, calls: readonly CallItem[]) {
  if (orderBy) {
    const message = 'groups are ordered by the first aggregate'
    throw refusal('order_by', { code: 'ORDER_NOT_ALLOWED', position: 0, message })
  }
  for (const item of items) mustBeGrouped(item, groups)
  const all = calls.length === 0 ? [COUNT] : calls
  for (const item of all) mustBeFree(item)
  const slices = ask.num_of_slices ?? SLICES
  if (groups.length > 0 && slices * (ask.limit ?? LIMIT) > CELLS_MAX) {
    const message = `limit times num_of_slices is at most ${CELLS_MAX}`
    throw refusal('limit', { code: 'TOO_COMPLEX', message })
  }
  return { kind: 'stats' as const, calls: all, groups, slices }
}

function mustBeGrouped(item: SelectItem, groups: readonly string[]): void {
  if (item.kind === 'call' || (item.kind === 'key' && groups.includes(item.key))) return
  const whole = item.kind === 'everything' || item.key === '@raw'
  const message = whole ? 'a grouped query returns groups, not events' : `${item.key} stands next to an aggregate and is not grouped`
  const hint = whole ? 'drop it' : `add ${item.key} to groups or drop it`
  throw refusal('select', { code: 'NOT_GROUPED', position: 0, length: item.name.length, message, hint })
}

/** mustBeFree refuses a name that the answer needs for itself; a count may be called so, since it is the same number. */
function mustBeFree({ name, call }: CallItem): void {
  if (!TAKEN_NAMES.has(name) || (name === 'count' && call.name === 'count' && call.key === undefined)) return
  throw refusal('select', {
    code: 'NAME_TAKEN',
    message: `the answer has another member called ${name}`,
    hint: 'choose another name after AS',
  })
}

type RangeAsk = Pick<SearchAsk, 'time_range' | 'from_ts' | 'to_ts'>

/** boundsOf reads the range of a question; `otherwise` is the relative range that holds when it names none, without which it must name one. */
export function boundsOf(ask: RangeAsk, nowMs: number, otherwise: string | undefined): Bounds {
  const { time_range, from_ts, to_ts } = ask
  if (from_ts === undefined && to_ts === undefined) {
    const phrase = time_range ?? otherwise
    if (phrase !== undefined) return parseTimeRange(phrase, nowMs)
    throw refusal('time_range', { code: 'MISSING_RANGE', message: 'give a relative range, or from_ts and to_ts' })
  }
  if (time_range !== undefined) {
    throw refusal('time_range', { code: 'CONFLICT', message: 'time_range or from_ts and to_ts, not both' })
  }
  if (from_ts === undefined || to_ts === undefined) {
    const field = from_ts === undefined ? 'to_ts' : 'from_ts'
    throw refusal(field, { code: 'MISSING_PAIR', message: 'from_ts and to_ts belong together: both or none' })
  }
  if (from_ts > to_ts) throw refusal('from_ts', { code: 'OUT_OF_RANGE', message: 'must not be later than to_ts' })
  return { fromMs: from_ts, toMs: to_ts }
}

/** gather reads several fields and reports what is wrong with each of them at once. */
export function gather<T extends object>(parsers: { [Name in keyof T]: () => T[Name] }): T {
  const failures: Failure[] = []
  const entries = Object.entries(parsers as Record<string, () => unknown>).map(([name, parse]) => {
    try {
      return [name, parse()]
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      failures.push(thrown)
      return [name, undefined]
    }
  })
  const [first] = failures
  if (!first) return Object.fromEntries(entries) as T
  if (failures.length === 1) throw first
  throw badRequest(failures.map(({ message }) => message).join('; '), { errors: failures.flatMap(({ errors }) => errors ?? []) })
}
