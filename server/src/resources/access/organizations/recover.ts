import { userInfo } from 'node:os'
import type { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'
import { recoveryKey } from '../api-keys/api-keys.ts'
import { checkMasterKey } from './fingerprints.ts'
import { selectAllOrganizations } from './rows.ts'

export type RecoveredAdmin = { organization: string; key: Secret }

/**
 * Creates a new AdminApi key for an organization that nobody can administer any more: the named one (by id or name), or the management organization.
 * It requires access to the data directory and is audited as such.
 */
export async function recoverAdmin(
  world: Pick<World, 'meta' | 'clock' | 'ids' | 'vault'>,
  named: string | undefined,
  user: string = userInfo().username,
): Promise<RecoveredAdmin> {
  const all = (await selectAllOrganizations(world.meta)).toReversed()
  if (all.length === 0) throw new Error('there is no organization yet; the first start creates one and prints its key')
  await checkMasterKey(world)
  const found = named === undefined ? all[0] : all.find(({ id, name }) => id === named.toLowerCase() || name === named)
  if (!found) throw new Error(`there is no organization ${named}; there are ${all.map(({ name }) => name).join(', ')}`)
  const facts = { correlationId: world.ids.correlation(), action: 'recover', address: 'localhost', userAgent: '', accept: '', baseUrl: '' }
  const who = { orgId: found.id, identity: undefined, name: `${user} on the machine`, facts }
  const key = await world.meta.write(found.id, (tx) => recoveryKey(world, tx, who))
  return { organization: found.name, key }
}
