import { unavailableFailure } from '../../../events/store/away.ts'
import type { EventStore } from '../../../events/store/events.ts'
import { amongIds } from '../../../events/store/id-list.ts'
import type { Actor } from '../../../http/actor.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { seenEventsFor } from '../../access/policies/policies.ts'
import type { DatasetRow } from '../datasets/datasets.ts'

const READ_BOUND_MS = 10_000
const MINUTE_MS = 60_000

/**
 * The size of the lines that arrived within a time range, which approximates that of the events of that time. Datasets of which the caller sees only
 * some events are left out.
 */
export async function rangeBytes(
  world: Pick<World, 'meta' | 'events'>,
  actor: Actor,
  datasets: readonly Pick<DatasetRow, 'id' | 'collection' | 'dataset'>[],
  bounds: TimeBounds,
): Promise<bigint> {
  const seen = await seenEventsFor(world, actor)
  const ids = datasets.flatMap((dataset) => (seen?.(dataset) ? [] : [dataset.id]))
  return selectRangeBytes(world.events, actor.orgNumber, ids, bounds)
}

export async function selectRangeBytes(
  store: EventStore,
  orgNumber: number,
  logIds: readonly string[],
  { fromMs, toMs }: TimeBounds,
): Promise<bigint> {
  const among = amongIds('log_id', 'ids', logIds)
  const query = store.ledger.query({
    query: `select toString(sum(raw_bytes)) as bytes from ledger final
      where org_id = {org:UInt32} and ${among.condition} and minute >= {from:UInt32} and minute < {to:UInt32}`,
    query_params: { org: orgNumber, ...among.params, from: secondsOf(fromMs - (fromMs % MINUTE_MS)), to: secondsOf(toMs) },
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: String(orgNumber) },
    abort_signal: AbortSignal.timeout(READ_BOUND_MS),
  })
  const [row] = await query
    .then((answer) => answer.json<{ bytes: string }>())
    .catch((cause) => {
      throw unavailableFailure(cause) ?? cause
    })
  return BigInt(row?.bytes ?? 0)
}

/** A time of the ledger is a number of 32 bits. */
const secondsOf = (ms: number): number => Math.min(2 ** 32 - 1, Math.max(0, Math.ceil(ms / 1_000)))
