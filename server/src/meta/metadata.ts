import type { Identity, Metadata } from '@dendro/api'

/** Builds the `metadata` field of a record from its columns. Absent times and actors are left out. */
export function metadataOf(row: {
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
  last_heartbeat_at?: number | null
}): Metadata {
  return {
    created_at: row.created_at,
    ...(row.created_by ? { created_by: row.created_by } : {}),
    modified_at: row.modified_at,
    ...(row.modified_by ? { modified_by: row.modified_by } : {}),
    ...(row.last_heartbeat_at ? { last_heartbeat_at: row.last_heartbeat_at } : {}),
  }
}
