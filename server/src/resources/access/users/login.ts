import type { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { isPassword } from './passwords.ts'
import {
  deleteSessionsOf,
  type LoginRow,
  lockPasswordHash,
  lockUser,
  selectByEmail,
  selectLogin,
  type UserRow,
  updatePasswordHash,
  updateUserRow,
} from './rows.ts'
import { emailKey, hasPassword, mayLogIn, PASSWORD } from './user-record.ts'

export type { LoginRow, UserRow }

/** Bounds the organizations in which one e-mail is tried, and so the work of one login. */
const CANDIDATES_MAX = 10

/** The users with an e-mail; one person may be a user of several organizations. */
export const candidates = (world: Pick<World, 'meta'>, email: string): Promise<LoginRow[]> =>
  selectByEmail(world.meta, emailKey(email), CANDIDATES_MAX)

/** A user with the password hash. */
export const loginOf = (world: Pick<World, 'meta'>, id: string): Promise<LoginRow | undefined> => selectLogin(world.meta, id)

/** The users whose password matches and who may log in. Those who may not are compared too, so that the time is the same. */
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

/** Chooses the user when a password matches in several organizations: the preferred one, otherwise the one of the latest login. */
export function chooseLogin(matched: readonly LoginRow[]): LoginRow | undefined {
  const preferred = matched.find((row) => matched.some((other) => other.preferences.preferred_org === row.org_id))
  if (preferred) return preferred
  return [...matched].sort((a, b) => lastLogin(b) - lastLogin(a) || a.created_at - b.created_at)[0]
}

const lastLogin = (row: UserRow): number => row.last_logins[PASSWORD] ?? 0

/** Records a login by a method; undefined if the user was deactivated or deleted since the lookup. */
export async function recordLogin(world: Pick<World, 'clock'>, tx: Db, user: UserRow, method = PASSWORD): Promise<UserRow | undefined> {
  const before = await lockUser(tx, user.org_id, user.id)
  if (!before || !mayLogIn(before.status)) return undefined
  const after: UserRow = {
    ...before,
    status: 'ACTIVE',
    accepted_at: before.accepted_at ?? world.clock.nowMs(),
    last_logins: { ...before.last_logins, [method]: Math.floor(world.clock.nowMs() / 1000) },
  }
  await updateUserRow(tx, after)
  return after
}

/** True if the password that was verified is still the one of the user. Locks the user, so that it stays so until the end of the transaction. */
export async function isStillPassword(tx: Db, { org_id, id, password_hash }: LoginRow): Promise<boolean> {
  const now = await lockPasswordHash(tx, org_id, id)
  return now !== undefined && now.password_hash === password_hash && hasPassword(now)
}

/** Stores a new hash, with today's cost, of a password that was just verified. */
export const savePasswordHash = (tx: Db, user: UserRow, hash: string): Promise<number> => updatePasswordHash(tx, user.org_id, user.id, hash)

/** Sets another password and ends every session of the user. */
export async function replacePassword(tx: Db, user: UserRow, hash: string): Promise<void> {
  await updatePasswordHash(tx, user.org_id, user.id, hash)
  await deleteSessionsOf(tx, user.id)
}
