import { type BodyOf, type contract, type LoginMethod, roleName, shownRole, type User, type UserStatus } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import type { UserRow } from './rows.ts'

/** The form in which e-mails are compared. */
export const emailKey = (email: string): string => email.normalize('NFKC').toLowerCase()

/** Reports whether users in a state may log in; MIGRATED counts as INACTIVE. */
export const mayLogIn = (status: UserStatus): boolean => status === 'ACTIVE' || status === 'INACTIVE' || status === 'MIGRATED'

/** The login method of every user, unless it is switched off for them. */
export const PASSWORD = 'Password'
export const defaultMethods: readonly LoginMethod[] = [{ name: PASSWORD, enabled: true }]

export const hasPassword = (user: Pick<UserRow, 'login_methods'>): boolean =>
  user.login_methods.some((method) => method.name === PASSWORD && method.enabled)

/** The stored form of roles: Administrator is Admin, without duplicates. */
export const storedRoles = (roles: readonly string[]): string[] => [...new Set(roles.map(roleName))]

type GivenMethods = NonNullable<BodyOf<typeof contract.users.update>['login_methods']>

/** Overwrites methods by name, ignoring case; rejects a user without any login method. */
export function mergeMethods(known: readonly LoginMethod[], given: GivenMethods): LoginMethod[] {
  const merged = new Map(known.map((method) => [method.name.toLowerCase(), method]))
  for (const { name, enabled } of methodsOf(given)) {
    const key = name.toLowerCase()
    merged.set(key, { name: merged.get(key)?.name ?? name, enabled })
  }
  const methods = [...merged.values()]
  if (!methods.some((method) => method.enabled)) throw badField('login_methods', 'must leave at least one method enabled')
  if (methods.length > METHODS_MAX) throw badField('login_methods', `must come to at most ${METHODS_MAX} methods`)
  return methods
}

const METHODS_MAX = 50

function methodsOf(given: GivenMethods): readonly LoginMethod[] {
  if (Array.isArray(given)) return given
  if (isMethod(given)) return [given]
  return Object.entries(given).map(([name, enabled]) => ({ name, enabled }))
}

const isMethod = (given: LoginMethod | Record<string, boolean>): given is LoginMethod => typeof given.name === 'string'

/** A user is INACTIVE after the configured time without a login; a login makes them ACTIVE again. */
export function statusAt(row: UserRow, nowMs: number, inactiveAfterMs: number | undefined): UserStatus {
  if (row.status !== 'ACTIVE' || inactiveAfterMs === undefined) return row.status
  const lastSeenMs = Math.max(row.accepted_at ?? row.created_at, ...Object.values(row.last_logins).map((seconds) => seconds * 1000))
  return nowMs - lastSeenMs > inactiveAfterMs ? 'INACTIVE' : 'ACTIVE'
}

export function shownUser(world: Pick<World, 'clock' | 'deployment'>, row: UserRow): User {
  return {
    id: row.id,
    first_name: row.first_name,
    last_name: row.last_name,
    email: row.email,
    roles: row.roles.map(shownRole),
    last_logins: row.last_logins,
    login_methods: row.login_methods,
    tags: row.tags,
    status: statusAt(row, world.clock.nowMs(), world.deployment.inactiveAfterMs),
    ...(row.invited_at === null ? {} : { invited_at: row.invited_at }),
    ...(row.invited_by === null ? {} : { invited_by: row.invited_by }),
    metadata: metadataOf(row),
  }
}
