import type { IdpRow, MappingRow } from './rows.ts'

export type Claims = Readonly<Record<string, unknown>>
/** What mappings assign: names of roles and ids of groups. */
type Assigned = { roles: string[]; groups: string[] }

const GROUP = 'group:'

/** The group that a mapping assigns; undefined if it assigns a role. */
export const groupIn = (assign: string): string | undefined =>
  assign.startsWith(GROUP) ? assign.slice(GROUP.length).toLowerCase() : undefined

/** What the mappings of a provider assign to a person with these claims, and all that they can assign. */
export function assignedBy(
  mappings: readonly MappingRow[],
  idp: Pick<IdpRow, 'name'>,
  claims: Claims,
): { assigned: Assigned; assignable: Assigned } {
  const own = mappings.filter((mapping) => mapping.idp === null || mapping.idp === idp.name)
  const matching = own.filter(({ provider_key, provider_value }) => valuesOf(claims, provider_key).includes(provider_value))
  return { assigned: sorted(matching), assignable: sorted(own) }
}

function sorted(mappings: readonly MappingRow[]): Assigned {
  const all = [...new Set(mappings.map(({ assign_attr }) => assign_attr))]
  return {
    roles: all.filter((assign) => groupIn(assign) === undefined),
    groups: all.flatMap((assign) => groupIn(assign) ?? []),
  }
}

/** The roles after a sign-on: those that mappings can assign only if they do so now; the default roles if none would be left. */
export function rolesAfter(
  current: readonly string[],
  of: { assigned: readonly string[]; assignable: readonly string[]; defaults: readonly string[] },
) {
  const kept = current.filter((role) => !of.assignable.includes(role))
  const roles = [...new Set([...kept, ...of.assigned])]
  return roles.length > 0 ? roles : [...of.defaults]
}

/** The values of a claim as texts. A name with dots that is no claim is a path, such as `realm_access.roles`. */
function valuesOf(claims: Claims, key: string): string[] {
  const found = Object.hasOwn(claims, key) ? claims[key] : key.split('.').reduce(memberOf, claims as unknown)
  return (Array.isArray(found) ? found : [found]).flatMap((value) => (isScalar(value) ? [String(value)] : []))
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined

const isScalar = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase()

type Candidate = { readonly id: string; readonly email: string; readonly roles: readonly string[] }

/**
 * Whether a user must sign on with a provider instead of a password. The local administrator may always use the password; if that user can no
 * longer log in as an Administrator, all Administrators may.
 */
export const mustSignOn = (
  user: Candidate,
  idps: readonly Pick<IdpRow, 'identifiers' | 'is_required' | 'local_administrator'>[],
  isLocalAdmin: (id: string) => boolean,
): boolean =>
  idps.some(
    ({ identifiers, is_required, local_administrator }) =>
      is_required &&
      identifiers.includes(domainOf(user.email)) &&
      user.id !== local_administrator &&
      (!user.roles.includes('Admin') || (local_administrator !== null && isLocalAdmin(local_administrator))),
  )
