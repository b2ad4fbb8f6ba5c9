import type { EventStore } from '../../events/store/events.ts'
import { messageKeys } from '../../lines/reference/event.ts'
import type { PlaceholderExpressions } from '../../patterns/placeholders.ts'
import { builtIn, type TableContext } from '../filter/filter.ts'
import { type Prepared, prepare } from '../plan/prepare.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { filterTable } from '../plan/table-read.ts'
import { freeTextsIn, keysIn } from '../plan/table-reads.ts'
import type { EventQuery, QueryCost } from '../query.ts'
import { costOf, run } from '../run/run.ts'
import { digits, joined, param, type SqlFragment, sql, using } from '../sql/sql.ts'
import { textOf } from '../statistics/aggregates.ts'

/** A value of a placeholder. Places count from 1. `distinct` and `total` are those of the place. */
type PlacedValue = {
  readonly place: number
  readonly value: string
  readonly count: number
  readonly distinct: number
  readonly total: number
}

/** The values of all places, with what a condition on one of them needs. */
type PlacedValues = {
  readonly values: readonly PlacedValue[]
  /** The key with the message. Undefined if the events have it in several. */
  readonly key: string | undefined
  /** True if a message can be divided into values in several ways. */
  readonly isAmbiguous: boolean
  readonly cost: QueryCost
}

const KEYS = [...messageKeys, '@raw']
const VALUES_MAX = 1_000_000

/** Counts the values of the placeholders of a pattern in the messages of all matching events; the most frequent of each place are returned. */
export async function readPlacedValues(
  store: EventStore,
  given: EventQuery,
  { expressions, limit }: { readonly expressions: PlaceholderExpressions; readonly limit: number },
): Promise<PlacedValues> {
  const wanted = { keys: [...keysIn(given.filter), ...KEYS], texts: freeTextsIn(given.filter), overflow: 'find' } as const
  return prepare(store, given, wanted, (prepared) => readPrepared(store, prepared, { expressions, limit }))
}

async function readPrepared(
  store: EventStore,
  { queryRun, query, tableReads }: Prepared,
  { expressions, limit }: { readonly expressions: PlaceholderExpressions; readonly limit: number },
): Promise<PlacedValues> {
  const parts = tableReads.flatMap((tableRead): SqlFragment[] => {
    const filtered = filterTable(tableRead, query.filter)
    if (!filtered) return []
    const { text, source } = messageOf(filtered.context)
    const found = sql`extractGroups(${text}, ${param.text(expressions.shortest)})`
    const differs =
      expressions.longest === undefined ? sql`false` : sql`${found} != extractGroups(${text}, ${param.text(expressions.longest)})`
    return [sql`select ${found} as found, ${source} as source, ${differs} as differs ${filtered.from(scopeOf(tableRead, query.bounds))}`]
  })
  if (parts.length === 0) return { values: [], key: undefined, isAmbiguous: false, cost: costOf(queryRun, 1) }
  const rows = await run(
    store,
    queryRun,
    sql`select toUInt64(place), text, toUInt64(number), toUInt64(count() over (partition by place)), toUInt64(sum(number) over (partition by place)),
        toUInt64(min(first_source) over ()), toUInt64(max(last_source) over ()), toUInt64(max(ambiguous) over ())
      from (select pair.1 as place, pair.2 as text, count() as number, min(source) as first_source, max(source) as last_source,
          max(differs) as ambiguous
        from (select arrayJoin(arrayZip(arrayEnumerate(found), found)) as pair, source, differs from (${joined(parts, ' union all ')})) group by place, text)
      order by place, number desc, text limit ${digits(limit)} by place`,
    { groupsMax: VALUES_MAX, groups: ['@pattern'] },
  )
  const values: PlacedValue[] = []
  let key: string | undefined
  let isAmbiguous = false
  while (rows.next()) {
    const place = Number(rows.uint64())
    const value = rows.text()
    values.push({ place, value, count: Number(rows.uint64()), distinct: Number(rows.uint64()), total: Number(rows.uint64()) })
    // These are the same in all rows.
    const [firstSource, lastSource] = [Number(rows.uint64()), Number(rows.uint64())]
    key = firstSource === lastSource ? KEYS[firstSource] : undefined
    isAmbiguous = rows.uint64() > 0n
  }
  return { values, key, isAmbiguous, cost: costOf(queryRun, 1) }
}

/** The text that the pattern of an event comes from, and the index of its key in KEYS. */
function messageOf(context: TableContext): { text: SqlFragment; source: SqlFragment } {
  const isMessage = (key: string) => sql`${textOf(key, context)} not in ('', '\\0')`
  const texts = messageKeys.map((key) => sql`${isMessage(key)}, ${textOf(key, context)}`)
  const sources = messageKeys.map((key, at) => sql`${isMessage(key)}, ${digits(at)}`)
  return {
    text: using('costlyValue', sql`multiIf(${joined(texts)}, ${builtIn('@raw', context)?.text ?? sql`''`})`),
    source: sql`multiIf(${joined(sources)}, ${digits(messageKeys.length)})`,
  }
}
