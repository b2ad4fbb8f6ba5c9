import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { insertDataKey, selectDataKey } from './rows.ts'

export { keptSecret, MASK } from './masked.ts'

/** The location of a sealed secret; it can be opened only there. */
export type SecretPlace = { readonly orgId: string; readonly table: string; readonly row: string; readonly column: string }

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts a recoverable secret with the data key of its organization, which is created on first use. */
export async function sealSecret(world: Pick<World, 'vault'>, tx: Db, place: SecretPlace, secret: Secret): Promise<Buffer> {
  const key = (await dataKey(world, tx, place.orgId)) ?? (await newDataKey(world, tx, place.orgId))
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aboutPlace(place))
  return Buffer.concat([nonce, cipher.update(secret.reveal(), 'utf8'), cipher.final(), cipher.getAuthTag()])
}

export async function openSecret(world: Pick<World, 'vault'>, db: Db, place: SecretPlace, sealed: Buffer): Promise<Secret> {
  const key = await dataKey(world, db, place.orgId)
  if (!key) throw new Error('an organization has a sealed secret and no key for it')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES)).setAAD(aboutPlace(place))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return new Secret(Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8'))
}

const aboutPlace = ({ orgId, table, row, column }: SecretPlace): Buffer => Buffer.from([orgId, table, row, column].join('/'), 'utf8')

async function dataKey({ vault }: Pick<World, 'vault'>, db: Db, orgId: string): Promise<Buffer | undefined> {
  const kept = await selectDataKey(db, orgId)
  return kept && vault.unwrapKey(orgId, kept.wrapped)
}

async function newDataKey(world: Pick<World, 'vault'>, tx: Db, orgId: string): Promise<Buffer> {
  await insertDataKey(tx, orgId, world.vault.wrapKey(orgId, randomBytes(KEY_BYTES)))
  const key = await dataKey(world, tx, orgId)
  if (!key) throw new Error('a data key is missing right after its creation')
  return key
}
