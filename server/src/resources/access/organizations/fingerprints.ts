import type { World } from '../../../world.ts'
import { type FingerprintName, insertFingerprint, replaceFingerprint } from './rows.ts'

type FingerprintWorld = Pick<World, 'meta' | 'vault' | 'blobStore' | 'log'>

const REMEDY =
  'give it the one that the others have; or, when it is changed on purpose, stop all processes and run `node server/src/main.ts adopt` once with the new one'
const REFUSALS: Record<FingerprintName, string> = {
  'master key': 'the master key is not the one of this deployment; give the right one by DENDRO_MASTER_KEY or DENDRO_MASTER_KEY_FILE',
  'token secret': `the secret that signs tokens (DENDRO_JWT_SECRET) is not the one of this deployment, so that its processes would refuse each other's tokens; ${REMEDY}`,
  'place of exports': `files of exports would be kept in another place (DENDRO_EXPORT_URL, or exports in DENDRO_DATA_DIR) than by the other processes of this deployment, which could not read them; ${REMEDY}`,
}

/**
 * Refuses to start with settings that differ from those of the deployment, whose effects users would only notice later. With another master key no
 * stored credential would be valid. An embedded metadata store has one process, which may change the other settings.
 */
export async function checkFingerprints(world: FingerprintWorld): Promise<void> {
  await checkMasterKey(world)
  if (!world.meta.server) {
    await checkFingerprint(world, 'token secret', world.vault.tokenFingerprint)
    await checkFingerprint(world, 'place of exports', await world.blobStore.locationId())
    return
  }
  const known = await insertFingerprint(world.meta, 'token secret', world.vault.tokenFingerprint)
  if (known === world.vault.tokenFingerprint) return
  world.log.warn({}, 'the secret that signs tokens has changed: all users must log in again')
  await replaceFingerprint(world.meta, 'token secret', world.vault.tokenFingerprint)
}

/** Refuses a master key other than that of the deployment, with which no stored credential would be valid. */
export const checkMasterKey = ({ meta, vault }: Pick<World, 'meta' | 'vault'>): Promise<void> =>
  checkFingerprint({ meta }, 'master key', vault.fingerprint)

async function checkFingerprint({ meta }: Pick<World, 'meta'>, name: FingerprintName, fingerprint: string): Promise<void> {
  if ((await insertFingerprint(meta, name, fingerprint)) !== fingerprint) throw new Error(REFUSALS[name])
}

/** Stores the token secret and the export location of this process as those of the deployment. */
export async function adoptFingerprints({ meta, vault, blobStore }: Pick<World, 'meta' | 'vault' | 'blobStore'>): Promise<void> {
  await checkMasterKey({ meta, vault })
  await replaceFingerprint(meta, 'token secret', vault.tokenFingerprint)
  await replaceFingerprint(meta, 'place of exports', await blobStore.locationId())
}
