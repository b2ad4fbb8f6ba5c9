import type { MetaWorld } from '../../../world.ts'
import { localAdministratorsOf, type UserRow } from '../users/users.ts'
import { mustSignOn } from './decide.ts'
import { allIdps } from './providers.ts'
import { type IdpRow, selectIdp, selectIdpsOfDomain } from './rows.ts'

export { isLoopback } from './addresses.ts'
export { assignedBy, type Claims, domainOf, rolesAfter } from './decide.ts'
export { allMappings } from './mappings.ts'
export { allIdps, clientSecretOf } from './providers.ts'
export type { IdpRow } from './rows.ts'
export { faultOfXml } from './saml-metadata.ts'
export { metadataOfProvider } from './saml-provider.ts'

/** Bounds the list of providers on the sign-in page. */
const PROVIDERS_MAX = 20

/** The providers for the domain of an e-mail address, in any organization. */
export const idpsOfDomain = (world: MetaWorld, domain: string): Promise<Pick<IdpRow, 'id' | 'name'>[]> =>
  selectIdpsOfDomain(world.meta, domain, PROVIDERS_MAX)

/** A provider of any organization, for a browser that signs on. */
export const idpById = (world: MetaWorld, id: string): Promise<IdpRow | undefined> => selectIdp(world.meta, id)

/** Leaves out the users whose organization requires single sign-on of them. */
export async function withoutRequiredProvider<T extends UserRow>(world: MetaWorld, rows: readonly T[]): Promise<T[]> {
  const free: T[] = []
  for (const row of rows) {
    const idps = (await allIdps(world, row.org_id)).filter(({ is_required }) => is_required)
    const admins = idps.length > 0 ? await localAdministratorsOf(world, row.org_id) : new Set<string>()
    if (!mustSignOn(row, idps, (id) => admins.has(id))) free.push(row)
  }
  return free
}
