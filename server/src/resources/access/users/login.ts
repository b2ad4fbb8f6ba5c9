import type { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { isPassword } from './passwords.ts'
import {
  deleteSessionsOf,
  type LoginRow,
  lockUser,
  selectByEmail,
  selectLogin,
  type UserRow,
  updatePasswordHash,
  updateUserRow,
} from './rows.ts'
import { emailKey, hasPassword, mayLogIn, PASSWORD } from './user-record.ts'

export type { LoginRow, UserRow }

/** CANDIDATES_MAX bounds the organisations in which one e-mail is tried, and so the work of one login. */
const CANDIDATES_MAX = 10

/** candidates are the users an e-mail may mean: the same person may be a user of several organisations. */
export const candidates = (world: Pick<World, 'meta'>, email: string): Promise<LoginRow[]> =>
  selectByEmail(world.meta, emailKey(email), CANDIDATES_MAX)

/** loginOf is one user with what proves him. */
export const loginOf = (world: Pick<World, 'meta'>, id: string): Promise<LoginRow | undefined> => selectLogin(world.meta, id)

/** withPassword gives those who have this password and may log in with one. Who may not is tried all the same, to take as long. */
export async function withPassword(rows: readonly LoginRow[], password: Secret): Promise<LoginRow[]> {
  const matched: LoginRow[] = []
  const provable = rows.filter((row) => row.password_hash !== null)
  if (provable.length === 0) await isPassword(password, undefined)
  for (const row of provable) {
    const proven = await isPassword(password, row.password_hash ?? undefined)
    if (proven && mayLogIn(row.status) && hasPassword(row)) matched.push(row)
  }
  return matched
}

/** chooseLogin is where a password leads that opens several organisations: to the preferred one, else to where the person was last. */
export function chooseLogin(matched: readonly LoginRow[]): LoginRow | undefined {
  const preferred = matched.find((row) => matched.some((other) => other.preferences.preferred_org === row.org_id))
  if (preferred) return preferred
  return [...matched].sort((a, b) => lastLogin(b) - lastLogin(a) || a.created_at - b.created_at)[0]
}

const lastLogin = (row: UserRow): number => row.last_logins[PASSWORD] ?? 0

/** recordLogin records a login with a password; undefined when the user has been barred or removed since he was looked up. */
export async function recordLogin(world: Pick<World, 'clock'>, tx: Db, user: UserRow): Promise<UserRow | undefined> {
  const before = await lockUser(tx, user.org_id, user.id)
  if (!before || !mayLogIn(before.status)) return undefined
  const after: UserRow = {
    ...before,
    status: 'ACTIVE',
    accepted_at: before.accepted_at ?? world.clock.nowMs(),
    last_logins: { ...before.last_logins, [PASSWORD]: Math.floor(world.clock.nowMs() / 1000) },
  }
  await updateUserRow(tx, after)
  return after
}

/** savePasswordHash stores a hash made anew at today's cost of the password that has just been proven. */
export const savePasswordHash = (tx: Db, user: UserRow, hash: string): Promise<number> => updatePasswordHash(tx, user.org_id, user.id, hash)

/** replacePassword sets another password and ends every token of the user. */
export async function replacePassword(tx: Db, user: UserRow, hash: string): Promise<void> {
  await updatePasswordHash(tx, user.org_id, user.id, hash)
  await deleteSessionsOf(tx, user.id)
}
