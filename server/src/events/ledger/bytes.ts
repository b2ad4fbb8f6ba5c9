import type { Slot } from '../../lines/layout/slots.ts'
import { classedTables, slotColumns } from '../../lines/layout/table.ts'
import { rebuildText } from '../../lines/reference/shape.ts'
import { fromNs } from '../../lines/values/time-text.ts'
import { SEQUENTIAL } from '../store/cluster-statements.ts'
import { andTiers, type ReadTiers } from '../store/cold-disk.ts'
import type { EventStore } from '../store/events.ts'

const READ_BOUND_MS = 60_000

/** Events of a dataset with sequence numbers in [from, to). */
export type SeqSpan = { orgNumber: number; logId: string; from: bigint; to: bigint }

type Row = { ns: string; shape: string; raw: string; more: Record<string, string> } & Record<string, string>

/** Sums the bytes of the lines of a span. It rebuilds lines that are stored in parts, so use it only for few events. */
export async function lineBytes(store: EventStore, span: SeqSpan, tiers: ReadTiers = 'all'): Promise<number> {
  let bytes = 0
  for (const { table, tableClass } of classedTables) {
    const where = `org_id = {org:UInt32} and log_id = {log:UUID} and seq >= {from:UInt64} and seq < {to:UInt64} ${andTiers(tiers)}`
    const ask = {
      query_params: { org: span.orgNumber, log: span.logId, from: String(span.from), to: String(span.to) },
      format: 'JSONEachRow' as const,
      abort_signal: AbortSignal.timeout(READ_BOUND_MS),
      clickhouse_settings: SEQUENTIAL,
    }
    const whole = await store.writer.query({
      ...ask,
      query: `select sum(length(raw)) as bytes from ${table} where ${where} and shape = ''`,
    })
    bytes += Number((await whole.json<{ bytes: string }>())[0]?.bytes ?? 0)
    const slots = slotColumns(tableClass).map((column) => column.name)
    const inParts = await store.writer.query({
      ...ask,
      query: `select toString(toUnixTimestamp64Nano(ts)) as ns, shape, raw, more, ${slots.join(', ')} from ${table} where ${where} and shape != ''`,
    })
    for await (const rows of inParts.stream<Row>()) for (const row of rows) bytes += bytesOf(row.json() as Row)
  }
  return bytes
}

const bytesOf = (row: Row): number =>
  Buffer.byteLength(
    rebuildText(row.shape, {
      time: fromNs(BigInt(row.ns)),
      slot: (slot: Slot) => row[slot] ?? '',
      more: (path) => row.more[path],
      raw: row.raw,
    }),
  )
