import { NIL_ID } from '../../kernel/ids.ts'
import type { EventStore } from '../store/events.ts'
import { amongIds } from '../store/id-list.ts'
import { type LedgerSpan, readLedgerRows, sliceSql, spanSql } from './reads.ts'
import type { SampleKind } from './samples.ts'

/** The days for which datasets keep their events: those of some, and of all others. */
export type KeptDays = {
  readonly otherwise: number
  readonly classes: readonly { readonly days: number; readonly logIds: readonly string[] }[]
}

/** What arrived in a slice for one group. Groups have ranks from 1 by their bytes; those beyond the last have one rank more and no key. */
export type SpentRow = { slice: number; rank: number; key: string; events: number; bytes: number; byteDays: number; recounted: number }

export type SpentBy = 'dataset' | 'key' | 'protocol' | 'nothing'

const keys: ReadonlyMap<SpentBy, string> = new Map([
  ['dataset', 'toString(log_id)'],
  ['key', "concat(toString(identity_type), ' ', toString(identity_id))"],
  ['protocol', 'toString(protocol)'],
])

type SpentRequest = { slices: number; groupsMax: number; kept: KeptDays }

/** Sums a span by slice and by the groups with the most bytes; the rest is one more group, so that groups add up. */
export async function selectSpent(
  store: EventStore,
  span: LedgerSpan,
  { slices, by, groupsMax, kept }: SpentRequest & { by: SpentBy },
): Promise<SpentRow[]> {
  const days = daysSql(kept)
  const query = rankedSql(`
    select ${keys.get(by) ?? "''"} as key, ${sliceSql} as slice, sum(stored) as events, sum(raw_bytes) as bytes,
      sum(toFloat64(raw_bytes) * ${days.sql}) as byteDays, sumIf(stored, protocol = 'recount') as recounted
    from ledger final where ${spanSql(span)} and log_id != {nobody:UUID} group by key, slice having events > 0`)
  return spentRows(
    await readLedgerRows<JsonSpent>(store, span, query, { slices, groups: groupsMax, named: false, nobody: NIL_ID, ...days.params }),
  )
}

/**
 * Sums the samples of lines in full days of a span, in the same way. The keys of patterns and fields begin with the id of their dataset; what has no name
 * has the last rank.
 */
export async function selectSampled(
  store: EventStore,
  span: LedgerSpan,
  { slices, kind, groupsMax, kept }: SpentRequest & { kind: SampleKind },
): Promise<SpentRow[]> {
  const days = daysSql(kept)
  const { condition, params } = amongIds('log_id', 'logs', span.logIds ?? [])
  const key = kind === 'sender' ? 'name' : "if(name = '', '', concat(toString(log_id), ' ', name))"
  const query = rankedSql(`
    select ${key} as key, toUInt32(intDiv((toInt64(toUnixTimestamp(day)) - {from:Int64}) * {slices:Int64}, {to:Int64} - {from:Int64})) as slice,
      toUInt64(0) as events, sum(spend_samples.bytes) as bytes, sum(toFloat64(spend_samples.bytes) * ${days.sql}) as byteDays, toUInt64(0) as recounted
    from spend_samples final
    where org_id = {org:UInt32} and kind = {kind:String} and day >= fromUnixTimestamp({from:UInt32}) and day < fromUnixTimestamp({to:UInt32})
      and ({all:Bool} or ${condition}) group by key, slice`)
  return spentRows(
    await readLedgerRows<JsonSpent>(store, span, query, { slices, groups: groupsMax, named: true, kind, ...params, ...days.params }),
  )
}

/** Ranks the keys of rows by their bytes and sums those behind the last rank, and the empty key, in each slice. */
const rankedSql = (rows: string): string => `
  select slice, toUInt32(least(place, {groups:UInt32} + 1)) as rank, if(rank > {groups:UInt32}, '', any(key)) as name,
    sum(events) as events, sum(bytes) as bytes, sum(byteDays) as byteDays, sum(recounted) as recounted
  from (
    select *, dense_rank() over (order by isRest, whole desc, key) + if(isRest, {groups:UInt32}, 0) as place
    from (select *, key = '' and {named:Bool} as isRest, sum(bytes) over (partition by key) as whole from (${rows}))
  )
  group by slice, rank order by rank, slice`

type JsonSpent = Record<'slice' | 'rank' | 'events' | 'bytes' | 'byteDays' | 'recounted', string> & { name: string }

const spentRows = (rows: readonly JsonSpent[]): SpentRow[] =>
  rows.map(({ slice, rank, name, events, bytes, byteDays, recounted }) => ({
    slice: Number(slice),
    rank: Number(rank),
    key: name,
    events: Number(events),
    bytes: Number(bytes),
    byteDays: Number(byteDays),
    recounted: Number(recounted),
  }))

function daysSql({ otherwise, classes }: KeptDays): { sql: string; params: Readonly<Record<string, unknown>> } {
  const cases = classes.map(({ days, logIds }, index) => {
    const { condition, params } = amongIds('log_id', `kept${index}x`, logIds)
    return { sql: `${condition}, {days${index}:Float64}`, params: { ...params, [`days${index}`]: days } }
  })
  const sql = cases.length === 0 ? '{daysElse:Float64}' : `multiIf(${cases.map((one) => one.sql).join(', ')}, {daysElse:Float64})`
  return { sql, params: Object.assign({ daysElse: otherwise }, ...cases.map(({ params }) => params)) as Readonly<Record<string, unknown>> }
}
