import type { Actor } from '../../../http/actor.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { createdBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { insertUser, type UserRow } from './rows.ts'
import { emailKey, shownUser } from './user-record.ts'

/** Adds a user whom a directory describes: without roles and without a password, so that they can only sign on. Undefined if the e-mail is taken. */
export async function addUserIn(
  world: World,
  tx: Db,
  actor: Actor,
  fields: Pick<UserRow, 'first_name' | 'last_name' | 'email' | 'status'>,
): Promise<UserRow | undefined> {
  const nowMs = world.clock.nowMs()
  const row: UserRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...fields,
    email_key: emailKey(fields.email),
    roles: [],
    last_logins: {},
    login_methods: [],
    tags: {},
    invited_at: null,
    invited_by: null,
    accepted_at: nowMs,
    preferences: {},
    ...createdBy(actor, nowMs),
  }
  if (!(await insertUser(tx, { ...row, password_hash: null }))) return undefined
  await recordChange(world, tx, actor, { entity: { type: 'user', id: row.id }, after: shownUser(world, row) })
  return row
}
