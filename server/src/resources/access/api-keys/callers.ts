import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../../../http/actor.ts'
import type { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'
import { permissionsOf } from '../roles/roles.ts'
import { type ApiKeyRow, selectApiKeyByHash, selectApiKeyById, selectOwner } from './rows.ts'

/** A CacheEntryRef says where the metadata cache keeps the caller of a key. */
type CacheEntryRef = { orgId: string; name: string }
type Owner = { org_id: string; org_number: number }
type CachedCaller = { identified: Principal; expiresAt: number | null }

const CACHE_REFS_MAX = 10_000
const SALT_BYTES = 32

/**
 * ApiKeyCallers finds callers by their keys. Whose key it is never changes and is remembered apart; what the key may do is remembered by the
 * metadata cache until the key or a role changes. An unknown key is never remembered.
 */
export class ApiKeyCallers {
  readonly #world: World
  /**
   * #places are kept by a digest that is quick to make and, for its salt, says nothing outside this process: the keyed hash that is stored
   * costs five times as much. A place is no right: what lies there is asked each time.
   */
  readonly #places = new Map<string, CacheEntryRef>()
  readonly #salt = randomBytes(SALT_BYTES).toString('latin1')

  constructor(world: World) {
    this.#world = world
  }

  /** identify gives the caller at once where he is remembered, and otherwise reads of him. */
  identify(key: Secret): Principal | Promise<Principal | undefined> {
    const digest = hash('sha256', this.#salt + key.reveal(), 'base64')
    const place = this.#places.get(digest)
    const known = place && this.#world.meta.remembered<CachedCaller>(place.orgId, place.name)
    return (known && this.#holding(known)) ?? this.#read(key, digest)
  }

  async #read(key: Secret, digest: string): Promise<Principal | undefined> {
    const { meta, vault } = this.#world
    const secretHash = vault.hashOf('api-key', key)
    const text = secretHash.toString('base64')
    const owner = await meta
      .cached('*', `owner:${text}`, () => orAbsent(selectOwner(meta, secretHash)), {
        only: ({ org_id, id }) => ({ api_keys: id, organisations: org_id }),
      })
      .catch(absentOrThrow)
    if (!owner) return undefined
    const place = { orgId: owner.org_id, name: `api-key:${text}` }
    const known = await meta
      .cached<CachedCaller>(place.orgId, place.name, () => this.#load(owner, secretHash), {
        only: ({ identified }) => ({ api_keys: identified.identity.id }),
      })
      .catch(absentOrThrow)
    if (!known) return undefined
    if (this.#places.size >= CACHE_REFS_MAX) this.#places.clear()
    this.#places.set(digest, place)
    return this.#holding(known)
  }

  async #load(owner: Owner, secretHash: Buffer): Promise<CachedCaller> {
    const { meta } = this.#world
    const row = await orAbsent(selectApiKeyByHash(meta, owner.org_id, secretHash))
    if (!timingSafeEqual(row.secret_hash, secretHash)) throw new NotFoundUncached()
    return knownOf(this.#world, row, owner.org_number)
  }

  #holding({ identified, expiresAt }: CachedCaller): Principal | undefined {
    return isExpired(expiresAt, this.#world.clock.nowMs()) ? undefined : identified
  }
}

async function knownOf(world: Pick<World, 'meta'>, row: ApiKeyRow, orgNumber: number): Promise<CachedCaller> {
  const { org_id, id, name, roles, expires_at } = row
  const permissions = await permissionsOf(world, org_id, roles)
  return {
    identified: { orgId: org_id, orgNumber, identity: { type: 'API_KEY_ID', id }, name, roles, permissions },
    expiresAt: expires_at,
  }
}

/** ownerOfKey is who shows a key, found by its id: what the key may do now, and until when; undefined when it is deleted. */
export const ownerOfKey = (world: Pick<World, 'meta'>, orgId: string, id: string): Promise<CachedCaller | undefined> =>
  world.meta.cached(orgId, `api-key of ${id}`, async () => {
    const row = await selectApiKeyById(world.meta, orgId, id)
    return row && knownOf(world, row, row.org_number)
  })

export const isExpired = (expiresAtS: number | null, nowMs: number): boolean => expiresAtS !== null && expiresAtS * 1000 <= nowMs

/** NotFoundUncached keeps "not there" out of the memory: a key that is made a moment later must work. */
class NotFoundUncached extends Error {}

async function orAbsent<Row>(found: Promise<Row | undefined>): Promise<Row> {
  const row = await found
  if (row === undefined) throw new NotFoundUncached()
  return row
}

function absentOrThrow(thrown: unknown): undefined {
  if (!(thrown instanceof NotFoundUncached)) throw thrown
}
