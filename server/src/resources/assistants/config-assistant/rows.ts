import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type AgentConfigRow = { org_id: string; id: string; sealed: Buffer; created_at: number; created_by: Identity | null }

export const selectAgentConfig = (db: Db, orgId: string, id: string) =>
  db.one<AgentConfigRow>(sql`select * from agent_configs where org_id = ${orgId} and id = ${id}`)

export const insertAgentConfig = (db: Db, row: AgentConfigRow) =>
  db.run(sql`
    insert into agent_configs (org_id, id, sealed, created_at, created_by)
    values (${row.org_id}, ${row.id}, ${row.sealed}, ${row.created_at}, ${json(row.created_by)})`)

/** Keeps the newest configurations of an organization. */
export const deleteOldAgentConfigs = (db: Db, orgId: string, kept: number) =>
  db.run(sql`
    delete from agent_configs where org_id = ${orgId} and id in (
      select id from agent_configs where org_id = ${orgId} order by created_at desc, id offset ${kept})`)
