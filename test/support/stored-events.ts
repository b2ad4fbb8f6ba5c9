import type { Slot } from '../../server/src/lines/layout/slots.ts'
import { classedTables, slotColumns } from '../../server/src/lines/layout/table.ts'
import { rebuild } from '../../server/src/lines/reference/shape.ts'
import { fromNs } from '../../server/src/lines/values/time-text.ts'
import { locate } from '../../server/src/resources/data/catalog/catalog.ts'
import type { World } from '../../server/src/world.ts'

/** An event from the store: its line byte for byte, and the values of its keys. */
export type StoredEvent = {
  raw: Buffer
  line: string
  timeNs: bigint
  seq: bigint
  severity: string
  origin: string
  post: bigint
  keys: Record<string, string>
}

type Row = {
  rawHex: string
  ns: string
  seq: string
  post: string
  sev: string
  origin: string
  shape: string
  more: Record<string, string>
} & Record<string, string>

/** Reads the events of a dataset with the rights of the organization, in order of arrival. */
export async function storedEvents(
  world: Pick<World, 'events' | 'meta'>,
  org: { orgId: string; orgNumber: number },
  logId: string,
): Promise<StoredEvent[]> {
  const map = (await locate(world, org.orgId, logId))?.map
  const events: StoredEvent[] = []
  for (const { table, tableClass } of classedTables) {
    const slots = slotColumns(tableClass).map((column) => column.name)
    const answer = await world.events.reader.query({
      query: `select hex(raw) as rawHex, toString(toUnixTimestamp64Nano(ts)) as ns, toString(seq) as seq, toString(post) as post, toString(sev) as sev,
        origin, shape, more, ${slots.join(', ')} from ${table} where log_id = {logId:UUID}`,
      query_params: { logId },
      format: 'JSONEachRow',
      clickhouse_settings: { log_comment: String(org.orgNumber) },
    })
    for (const row of await answer.json<Row>()) events.push(asEvent(row, map?.slots ?? new Map()))
  }
  return events.sort((a, b) => (a.seq < b.seq ? -1 : 1))
}

function asEvent(row: Row, slots: ReadonlyMap<string, Slot>): StoredEvent {
  const timeNs = BigInt(row.ns)
  const raw =
    row.shape === ''
      ? Buffer.from(row.rawHex, 'hex')
      : rebuild(row.shape, {
          time: fromNs(timeNs),
          slot: (slot) => row[slot] ?? '',
          more: (path) => row.more[path],
          raw: Buffer.from(row.rawHex, 'hex').toString('utf8'),
        })
  const placed = [...slots].flatMap(([path, slot]) => (row[slot] ? [[path, row[slot]] as const] : []))
  const keys = Object.fromEntries([...placed, ...Object.entries(row.more)].map(([path, text]) => [path, text === '\0' ? '' : text]))
  return {
    raw,
    line: raw.toString('utf8'),
    timeNs,
    seq: BigInt(row.seq),
    severity: row.sev,
    origin: row.origin,
    post: BigInt(row.post),
    keys,
  }
}
