import type { SearchRequest } from '@dendro/api'
import type { Filter, SelectItem, SortOrder } from '@dendro/language/tree'
import type { FieldProblem } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter, parseGroups, parseOrderBy, parseSelect, refusal } from '../../../query/query.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import { ALL_EVENTS, and, type CallItem } from '../../data/event-queries/event-queries.ts'

export type Warnings = readonly FieldProblem[]

/** The parts that every plan has. */
type Planned = {
  /** The text of the filter. */
  readonly where: string
  /** The condition of the request, also of its `from_sequence`. */
  readonly filter: Filter
  readonly fromSequence: bigint | undefined
  readonly bounds: TimeBounds
  readonly warnings: Warnings
  /** The select list as sent. */
  readonly selected: readonly string[]
  readonly limit: number
}

export type EventsPlan = Planned & {
  readonly kind: 'events'
  readonly items: readonly SelectItem[]
  readonly newestFirst: boolean
  readonly orderBy: SortOrder | undefined
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
/** Bounds groups times slices. */
const CELLS_MAX = 1_000_000
const COUNT: CallItem = { kind: 'call', call: { name: 'count' }, name: 'count(*)' }
/** Names that the response uses itself, so that no result can have them. */
const TAKEN_NAMES = new Set(['count', 'timeseries', 'total_groups', 'retrieved_groups', 'group', 'stat', 'value', '@time', '@timestamp'])

type Parts = {
  filter: ReturnType<typeof parseFilter>
  begin: Filter
  items: readonly SelectItem[]
  groups: readonly string[]
  orderBy: SortOrder | undefined
  bounds: TimeBounds
}

/** Validates a search; every problem is reported in one 400 with its field. */
export function planSearch(request: SearchRequest, nowMs: number): SearchPlan {
  const parts = parseAll<Parts>({
    filter: () => parseFilter(request.where ?? ''),
    begin: () => beginOf(request),
    items: () => selectOf(request.select),
    groups: () => parseGroups(request.groups ?? []),
    orderBy: () => (request.order_by?.trim() ? parseOrderBy(request.order_by) : undefined),
    bounds: () => boundsOf(request, nowMs, DEFAULT_RANGE),
  })
  const { filter, warnings } = parts.filter
  const planned = {
    where: request.where ?? '',
    filter: and(filter, parts.begin),
    fromSequence: request.from_sequence,
    warnings,
    bounds: parts.bounds,
    selected: request.select ?? [],
    limit: request.limit ?? LIMIT,
  }
  const calls = parts.items.filter((item) => item.kind === 'call')
  if (calls.length === 0 && parts.groups.length === 0) return { ...planned, ...eventsPart(request, parts) }
  return { ...planned, ...statsPart(request, parts, calls) }
}

function selectOf(select: readonly string[] | undefined): readonly SelectItem[] {
  if (!select || select.every((item) => item.trim() === '')) {
    throw refusal('select', { code: 'EMPTY_SELECT', position: 0, message: 'at least one item', hint: 'for events use *' })
  }
  const items = parseSelect(select.filter((item) => item.trim() !== ''))
  checkNamedOnce(items)
  return items
}

/** Rejects one name for two results, of which the answer would have only the last. The same item may stand there twice. */
function checkNamedOnce(items: readonly SelectItem[]): void {
  const named = new Map<string, string>()
  for (const item of items) {
    const written = JSON.stringify(item)
    if ((named.get(item.name) ?? written) !== written) {
      throw refusal('select', { code: 'NAME_TAKEN', message: `the name ${item.name} is there twice`, hint: 'choose another name after AS' })
    }
    named.set(item.name, written)
  }
}

/** Excludes the events of the first millisecond before a sequence number, from counts and groups too. */
function beginOf({ from_ts, from_sequence }: SearchRequest): Filter {
  if (from_sequence === undefined) return ALL_EVENTS
  if (from_ts === undefined) throw refusal('from_sequence', { code: 'MISSING_PAIR', message: 'needs from_ts' })
  return parseFilter(`@timestamp > ${from_ts} OR @sequence >= ${from_sequence}`).filter
}

function eventsPart(request: SearchRequest, { items, orderBy }: Parts) {
  return { kind: 'events' as const, items, newestFirst: request.most_recent_first ?? true, orderBy }
}

function statsPart(request: SearchRequest, { items, groups, orderBy }: Parts, calls: readonly CallItem[]) {
  if (orderBy) {
    const message = 'groups are ordered by the first aggregate'
    throw refusal('order_by', { code: 'ORDER_NOT_ALLOWED', position: 0, message })
  }
  for (const item of items) checkGrouped(item, groups)
  const all = calls.length === 0 ? [COUNT] : calls
  for (const item of all) checkNotReserved(item)
  const slices = request.num_of_slices ?? SLICES
  if (groups.length > 0 && slices * (request.limit ?? LIMIT) > CELLS_MAX) {
    const message = `limit times num_of_slices is at most ${CELLS_MAX}`
    throw refusal('limit', { code: 'TOO_COMPLEX', message })
  }
  return { kind: 'stats' as const, calls: all, groups, slices }
}

function checkGrouped(item: SelectItem, groups: readonly string[]): void {
  if (item.kind === 'call' || (item.kind === 'key' && groups.includes(item.key))) return
  const whole = item.kind === 'everything' || item.key === '@raw'
  const message = whole ? 'a grouped query returns groups, not events' : `${item.key} stands next to an aggregate and is not grouped`
  const hint = whole ? 'drop it' : `add ${item.key} to groups or drop it`
  throw refusal('select', { code: 'NOT_GROUPED', position: 0, length: item.name.length, message, hint })
}

/** Rejects reserved names; a count may be called `count`, since it is the same number. */
function checkNotReserved({ name, call }: CallItem): void {
  if (!TAKEN_NAMES.has(name) || (name === 'count' && call.name === 'count' && call.key === undefined)) return
  throw refusal('select', {
    code: 'NAME_TAKEN',
    message: `the answer has another member called ${name}`,
    hint: 'choose another name after AS',
  })
}
