import type { BucketOrigin, SourceOrigin } from '@dendro/api'
import { isSameAccount } from '../../../kafka/access.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { keptSecret, MASK, openSecret, type SecretPlace, sealSecret } from '../../access/secrets/secrets.ts'
import type { SourceRow } from './rows.ts'

/** The credentials of an origin. */
export type OriginSecrets = { readonly password?: string; readonly secret_access_key?: string }
type SplitOrigin<Origin = SourceOrigin> = { readonly origin: Origin; readonly secrets: OriginSecrets }

/** A row whose column `secrets` has the credentials. */
type SecretOwner = Pick<SourceRow, 'org_id' | 'id'>
type OwnerTable = 'sources' | 'rehydrations'

const placeOf = ({ org_id, id }: SecretOwner, table: OwnerTable): SecretPlace => ({ orgId: org_id, table, row: id, column: 'secrets' })

export const sealSecrets = (
  world: Pick<World, 'vault'>,
  tx: Db,
  row: SecretOwner,
  secrets: OriginSecrets,
  table: OwnerTable = 'sources',
): Promise<Buffer> => sealSecret(world, tx, placeOf(row, table), new Secret(JSON.stringify(secrets)))

export const openOriginSecrets = async (
  world: Pick<World, 'vault'>,
  db: Db,
  row: SecretOwner & Pick<SourceRow, 'secrets'>,
  table: OwnerTable = 'sources',
): Promise<OriginSecrets> => JSON.parse((await openSecret(world, db, placeOf(row, table), row.secrets)).reveal()) as OriginSecrets

/** Separates the secrets of an origin, which read `***` in what is left. Masked ones are kept from before, for the same account only. */
export function splitOrigin(given: SourceOrigin, before: SplitOrigin | undefined): SplitOrigin {
  const old = before?.origin
  if (given.kind === 'S3') {
    // The access key is sent to the queue too.
    const isSameQueue = old?.kind === 'S3' && old.queue_url === given.queue_url
    return splitBucket(given, isSameQueue ? old : undefined, before?.secrets)
  }
  if (given.kind !== 'KAFKA' || given.password === undefined) return { origin: given, secrets: {} }
  const isSame = old?.kind === 'KAFKA' && isSameAccount(old, given)
  const password = keptSecret(given.password, before?.secrets.password, isSame, 'origin.password')
  return { origin: { ...given, password: MASK }, secrets: { password } }
}

export function splitBucket<Origin extends BucketOrigin>(given: Origin, old?: BucketOrigin, known?: OriginSecrets): SplitOrigin<Origin> {
  const isSame = old !== undefined && old.endpoint === given.endpoint && old.access_key_id === given.access_key_id
  const secret = keptSecret(given.secret_access_key, known?.secret_access_key, isSame, 'origin.secret_access_key')
  return { origin: { ...given, secret_access_key: MASK }, secrets: { secret_access_key: secret } }
}
