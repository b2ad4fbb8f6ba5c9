import type { Identity } from '@dendro/api'
import { conflict } from './kernel/errors.ts'
import type { Secret } from './kernel/secret.ts'
import type { Db } from './meta/meta.ts'
import { bootstrapKey } from './resources/access/api-keys/api-keys.ts'
import { checkFingerprints, insertOrganization, selectFirstOrganization } from './resources/access/organizations/organizations.ts'
import { bootstrapAdmin } from './resources/access/users/users.ts'
import { bootstrapDatasets } from './resources/data/datasets/datasets.ts'
import type { World } from './world.ts'

export type Founded = { orgId: string; firstKey: Secret }

const FIRST_NAME = 'default'

/**
 * Creates the first organization if there is none. Only the start that created it returns its key. When two processes start at once, one
 * creates it and the other finds it.
 */
export async function firstStart(world: World): Promise<{ orgId: string; firstKey: Secret | undefined }> {
  await checkFingerprints(world)
  const known = await selectFirstOrganization(world.meta)
  if (known) return { orgId: known.id, firstKey: undefined }
  const orgId = world.ids.uuid()
  try {
    return await world.meta.write(orgId, async (tx) => {
      const founded = await foundOrganization(world, tx, { orgId, name: FIRST_NAME, firstKey: world.deployment.firstKey })
      if (world.deployment.admin) await bootstrapAdmin(world, tx, orgId, world.deployment.admin)
      return founded
    })
  } catch (thrown) {
    const winner = await selectFirstOrganization(world.meta)
    if (!winner) throw thrown
    return { orgId: winner.id, firstKey: undefined }
  }
}

/** Creates an organization with its first key and its datasets, in the given transaction. */
export async function foundOrganization(
  world: Pick<World, 'clock' | 'ids' | 'vault'>,
  tx: Db,
  ask: { orgId: string; name: string; firstKey: Secret | undefined; founder?: Identity },
): Promise<Founded> {
  const made = await insertOrganization(tx, {
    id: ask.orgId,
    name: ask.name,
    created_at: world.clock.nowMs(),
    created_by: ask.founder ?? null,
  })
  if (!made) throw conflict(`an organization called ${ask.name} already exists`)
  const firstKey = await bootstrapKey(world, tx, ask.orgId, ask.firstKey)
  await bootstrapDatasets(world, tx, ask.orgId)
  return { orgId: ask.orgId, firstKey }
}
