import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { WidgetChoice } from './choice.ts'

type Session = { orgId: string; identityId: string; id: string }

export const selectSession = (db: Db, { orgId, identityId, id }: Session, sinceMs: number) =>
  db.one<{ choice: WidgetChoice }>(sql`
    select choice from assistant_sessions where org_id = ${orgId} and identity_id = ${identityId} and id = ${id} and touched_at >= ${sinceMs}`)

export const saveSession = (db: Db, { orgId, identityId, id }: Session, choice: WidgetChoice, nowMs: number) =>
  db.run(sql`
    insert into assistant_sessions (org_id, identity_id, id, choice, touched_at)
    values (${orgId}, ${identityId}, ${id}, ${json(choice)}, ${nowMs})
    on conflict (org_id, identity_id, id) do update set choice = excluded.choice, touched_at = excluded.touched_at`)

export const deleteOldSessions = (db: Db, orgId: string, beforeMs: number) =>
  db.run(sql`
    delete from assistant_sessions where ctid = any (array(
      select ctid from assistant_sessions where org_id = ${orgId} and touched_at < ${beforeMs} for update skip locked))`)
