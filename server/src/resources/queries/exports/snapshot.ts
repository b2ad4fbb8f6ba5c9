import { amongIds } from '../../../events/store/id-list.ts'
import type { Actor } from '../../../http/actor.ts'
import { eventsTables } from '../../../lines/layout/table.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'

const BOUND_MS = 10_000
/** The time of an event in the store has its bounds, and so have questions about it. */
const EARLIEST_MS = Date.UTC(1999, 11, 31)
const LATEST_MS = Date.UTC(2262, 0, 1)

/**
 * The sequence number of the newest event of an export: events acknowledged before have smaller numbers, later ones greater. If the store
 * is too busy, the last number issued is used, which admits events of the next seconds.
 */
export async function highestSequence(
  { events, writer, log }: Pick<World, 'events' | 'writer' | 'log'>,
  { orgNumber }: Actor,
  logIds: readonly string[],
  { fromMs, toMs }: TimeBounds,
): Promise<bigint> {
  const among = amongIds('log_id', 'ids', logIds)
  const tables = eventsTables.map(
    (table) => `select max(seq) as highest from ${table}
      where ${among.condition} and ts >= fromUnixTimestamp64Milli({from:Int64}) and ts < fromUnixTimestamp64Milli({to:Int64})`,
  )
  try {
    const answer = await events.reader.query({
      query: `select toString(max(highest)) as highest from (${tables.join(' union all ')})`,
      query_params: { ...among.params, from: clamp(fromMs), to: clamp(toMs) },
      format: 'JSONEachRow',
      clickhouse_settings: { log_comment: String(orgNumber), max_execution_time: BOUND_MS / 1_000 },
      abort_signal: AbortSignal.timeout(BOUND_MS),
    })
    const [row] = await answer.json<{ highest: string }>()
    return BigInt(row?.highest ?? 0)
  } catch (err) {
    log.debug({ err }, 'the newest event of an export is unknown')
    return writer.settled.last()
  }
}

const clamp = (atMs: number): number => Math.min(LATEST_MS, Math.max(EARLIEST_MS, atMs))
