import type { Login } from '@dendro/api'
import type { RequestFacts } from '../../../http/actor.ts'
import { Failure, forbidden } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { resumePersonalKeys } from '../api-keys/api-keys.ts'
import { openProvidedLogin } from '../auth/auth.ts'
import { setProvidedGroups } from '../groups/groups.ts'
import { grantedRolesIn } from '../organizations/organizations.ts'
import { unknownRoles } from '../roles/roles.ts'
import { allMappings, assignedBy, type Claims, type IdpRow, rolesAfter } from '../sso/sso.ts'
import { provideUser, type UserRow } from '../users/users.ts'
import { endOfSessions, type Kept, keepSignOn } from './kept-sign-ons.ts'
import { readPerson } from './person.ts'
import { recordFailure } from './provider-failures.ts'
import { insertIdentity, selectIdentity } from './rows.ts'

/** What a provider has said about a person and about its own session. */
export type Provided = { claims: Claims & { sub: string }; session?: string | undefined; endsAtMs?: number | undefined; kept: Kept }

/** Opens a session for the user whom a provider has identified. */
export async function logInProvided(
  world: World,
  facts: RequestFacts,
  idp: IdpRow,
  { claims, session, endsAtMs, kept }: Provided,
): Promise<Login> {
  try {
    const { user, signOnId } = await provide(world, facts, idp, { claims, kept })
    const ends = endOfSessions(idp, { token: kept.token, endsAtMs }, world.clock.nowMs())
    const by = { idpId: idp.id, subject: claims.sub, session, signOnId, endsAtMs: ends }
    const login = await openProvidedLogin(world, facts, user, idp.name, by)
    if (!login) throw withoutRole()
    return login
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 403) await recordFailure(world, facts, idp, claims)
    throw thrown
  }
}

type Identified = { user: UserRow; signOnId: string }

/** Writes the user, their link to the provider, their roles and groups, and the sign-on in one transaction. */
async function provide(
  world: World,
  facts: RequestFacts,
  idp: IdpRow,
  { claims, kept }: Pick<Provided, 'claims' | 'kept'>,
): Promise<Identified> {
  const { assigned, assignable } = assignedBy(await allMappings(world, idp.org_id), idp, claims)
  const unknown = new Set(await unknownRoles(world, idp.org_id, 'USER', [...assigned.roles, ...idp.default_roles]))
  const isKnown = (role: string): boolean => !unknown.has(role)
  const of = { assigned: assigned.roles.filter(isKnown), assignable: assignable.roles, defaults: idp.default_roles.filter(isKnown) }
  const { email, names } = readPerson(claims, idp)
  return world.meta.write(idp.org_id, async (tx) => {
    const linked = await selectIdentity(tx, idp.id, claims.sub)
    const user = await provideUser(world, tx, facts, {
      orgId: idp.org_id,
      method: idp.name,
      userId: linked?.user_id,
      deactivatedAtMs: linked?.deactivated_at ?? undefined,
      email,
      names,
      rolesAfter: (current) => rolesAfter(current, of),
    })
    await resumePersonalKeys(tx, user.id)
    if (!linked) await insertIdentity(tx, { org_id: idp.org_id, idp_id: idp.id, subject: claims.sub, user_id: user.id })
    const who = { orgId: idp.org_id, identity: { type: 'USER_ID', id: user.id } as const, name: user.email, facts }
    await setProvidedGroups(world, tx, who, user.id, { assigned: assigned.groups, assignable: assignable.groups })
    // Ends the transaction, so that nobody without a role becomes a user.
    if (!linked && user.roles.length === 0 && !(await hasGrant(tx, user))) throw withoutRole()
    const begun = { org_id: idp.org_id, idp_id: idp.id, user_id: user.id, subject: claims.sub }
    return { user, signOnId: await keepSignOn(world, tx, begun, kept) }
  })
}

const withoutRole = () => forbidden('no role is assigned to this user; ask an administrator')

const hasGrant = async (tx: Db, { org_id, id }: UserRow): Promise<boolean> => (await grantedRolesIn(tx, org_id, id)).length > 0
