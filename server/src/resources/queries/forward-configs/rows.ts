import type { ForwardConfig, ForwardDestination, Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { DeliveryState, PlannedPayload } from './state.ts'

export type ForwardConfigRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  filter: string | null
  all_logs: boolean
  log_ids: string[]
  format: ForwardConfig['format']
  compression: ForwardConfig['compression']
  max_payload_size_bytes: number
  max_payload_size_events: number
  max_buffer_time_ms: number
  /** Without secrets. */
  destination: ForwardDestination
  secrets: Buffer
  author: Identity
  author_roles: string[]
  /** Set when the config is deleted: events with higher numbers are not forwarded. */
  ends_at: string | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export type DeliveryRow = {
  config_id: string
  position: string
  payload: PlannedPayload | null
  state: DeliveryState
}

const columns = sql`org_id, id, name, description, filter, all_logs, log_ids, format, compression, max_payload_size_bytes, max_payload_size_events,
  max_buffer_time_ms, destination, secrets, author, author_roles, ends_at::text, created_at, created_by, modified_at, modified_by`

export const selectConfigs = (db: Db, orgId: string) =>
  db.all<ForwardConfigRow>(
    sql`select ${columns} from forward_configs where org_id = ${orgId} and ends_at is null order by created_at desc, id`,
  )

export const selectConfig = (db: Db, orgId: string, id: string) =>
  db.one<ForwardConfigRow>(sql`select ${columns} from forward_configs where org_id = ${orgId} and id = ${id}`)

export const lockConfig = (db: Db, orgId: string, id: string) =>
  db.one<ForwardConfigRow>(
    sql`select ${columns} from forward_configs where org_id = ${orgId} and id = ${id} and ends_at is null for update`,
  )

/** Counts the configs of an organization, among them those that are deleted and still deliver. It waits for other transactions that create one. */
export const countConfigs = async (db: Db, orgId: string): Promise<number> => {
  await db.run(sql`select 1 from organisations where id = ${orgId} for no key update`)
  return (
    (await db.one<{ configs: number }>(sql`select count(*)::int as configs from forward_configs where org_id = ${orgId}`))?.configs ?? 0
  )
}

export const insertConfig = (db: Db, row: ForwardConfigRow) =>
  db.run(sql`
    insert into forward_configs (org_id, id, name, description, filter, all_logs, log_ids, format, compression, max_payload_size_bytes,
      max_payload_size_events, max_buffer_time_ms, destination, secrets, author, author_roles, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.filter}, ${row.all_logs}, ${row.log_ids}::uuid[], ${row.format},
      ${row.compression}, ${row.max_payload_size_bytes}, ${row.max_payload_size_events}, ${row.max_buffer_time_ms}, ${json(row.destination)},
      ${row.secrets}, ${json(row.author)}, ${json(row.author_roles)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at},
      ${json(row.modified_by)})`)

export const updateConfigRow = (db: Db, row: ForwardConfigRow) =>
  db.run(sql`
    update forward_configs set name = ${row.name}, description = ${row.description}, filter = ${row.filter}, all_logs = ${row.all_logs},
      log_ids = ${row.log_ids}::uuid[], format = ${row.format}, compression = ${row.compression},
      max_payload_size_bytes = ${row.max_payload_size_bytes}, max_payload_size_events = ${row.max_payload_size_events},
      max_buffer_time_ms = ${row.max_buffer_time_ms}, destination = ${json(row.destination)}, secrets = ${row.secrets},
      author = ${json(row.author)}, author_roles = ${json(row.author_roles)}, modified_at = ${row.modified_at},
      modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

/** Deletes a config for its callers. Its job deletes the row when the events that arrived before are delivered. */
export const endConfig = (db: Db, orgId: string, id: string, endsAt: bigint) =>
  db.run(sql`update forward_configs set ends_at = ${String(endsAt)}::bigint where org_id = ${orgId} and id = ${id} and ends_at is null`)

export const deleteConfig = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from forward_configs where org_id = ${orgId} and id = ${id}`)

export const insertDelivery = (db: Db, orgId: string, configId: string, position: bigint, state: DeliveryState) =>
  db.run(sql`
    insert into forward_deliveries (config_id, org_id, position, state)
    values (${configId}, ${orgId}, ${String(position)}::bigint, ${json(state)})`)

export const selectDeliveries = (db: Db, orgId: string) =>
  db.all<DeliveryRow>(sql`select config_id, position::text, payload, state from forward_deliveries where org_id = ${orgId}`)

export const selectDelivery = (db: Db, orgId: string, configId: string) =>
  db.one<DeliveryRow>(
    sql`select config_id, position::text, payload, state from forward_deliveries where org_id = ${orgId} and config_id = ${configId}`,
  )

/** Saves the progress. A position never goes back. */
export const updateDelivery = (db: Db, orgId: string, row: DeliveryRow) =>
  db.run(sql`
    update forward_deliveries set position = greatest(position, ${row.position}::bigint),
      payload = ${row.payload === null ? null : json(row.payload)}, state = ${json(row.state)}
    where org_id = ${orgId} and config_id = ${row.config_id}`)

/** Gives up the payload that is being delivered, so that its events go into a new one. */
export const dropPayload = (db: Db, orgId: string, configId: string) =>
  db.run(sql`update forward_deliveries set payload = null where org_id = ${orgId} and config_id = ${configId}`)
