import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../../../http/actor.ts'
import { networkCheck } from '../../../kernel/networks.ts'
import type { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'
import { permissionsOf } from '../roles/roles.ts'
import { hashOfKey } from './key-record.ts'
import { type ApiKeyRow, selectApiKeyByHash, selectApiKeyById, selectOwner } from './rows.ts'
import type { ApiKeyUses } from './uses.ts'

/** The key under which the metadata cache keeps a caller. */
type CacheEntryRef = { orgId: string; name: string }
type Owner = { org_id: string; org_number: number }
type CachedCaller = { identified: Principal; keyId: string; expiresAt: number | null; isPrevious: boolean }
/** Finds a user who may log in now. */
type FindActiveUser = (orgId: string, userId: string) => Promise<Principal | undefined>

const CACHE_REFS_MAX = 10_000
const SALT_BYTES = 32

/**
 * Finds callers by API key. The owner of a key never changes and is cached here. What the key may do is in the metadata cache, which drops it when
 * the key or a role changes. Unknown keys are not cached.
 */
export class ApiKeyCallers {
  readonly #world: World
  /**
   * Indexed by a fast salted digest that is useless outside this process: the stored keyed hash takes five times as long. An entry grants nothing;
   * the caller is read from the metadata cache each time.
   */
  readonly #places = new Map<string, CacheEntryRef>()
  readonly #uses: ApiKeyUses
  readonly #salt = randomBytes(SALT_BYTES).toString('latin1')

  readonly #activeUser: FindActiveUser

  constructor(world: World, uses: ApiKeyUses, activeUser: FindActiveUser) {
    this.#world = world
    this.#activeUser = activeUser
    this.#uses = uses
  }

  /** Returns the caller synchronously if cached, otherwise reads it. */
  identify(key: Secret, address: string): Principal | Promise<Principal | undefined> {
    const digest = hash('sha256', this.#salt + key.reveal(), 'base64')
    const place = this.#places.get(digest)
    const known = place && this.#world.meta.remembered<CachedCaller>(place.orgId, place.name)
    return (known && this.#holding(known, address)) ?? this.#read(key, digest, address)
  }

  async #read(key: Secret, digest: string, address: string): Promise<Principal | undefined> {
    const { meta } = this.#world
    const secretHash = hashOfKey(this.#world, key)
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
        only: ({ keyId }) => ({ api_keys: keyId }),
      })
      .catch(absentOrThrow)
    if (!known) return undefined
    if (this.#places.size >= CACHE_REFS_MAX) this.#places.clear()
    this.#places.set(digest, place)
    return this.#holding(known, address)
  }

  async #load(owner: Owner, secretHash: Buffer): Promise<CachedCaller> {
    const { meta } = this.#world
    const row = await orAbsent(selectApiKeyByHash(meta, owner.org_id, secretHash))
    const isPrevious = row.previous_hash !== null && timingSafeEqual(row.previous_hash, secretHash)
    if (!isPrevious && !timingSafeEqual(row.secret_hash, secretHash)) throw new NotFoundUncached()
    if (row.suspended_at !== null) throw new NotFoundUncached()
    const known = await knownOf(this.#world, row, owner.org_number, isPrevious)
    return row.user_id === null ? known : { ...known, identified: await this.#personal(row, row.user_id, known.identified) }
  }

  /** A personal key acts as its user, who is read with it: a change of either is a change of the caller. */
  async #personal(
    { org_id, id, name }: ApiKeyRow,
    userId: string,
    { permissions, mayCallFrom, expiresAtS }: Principal,
  ): Promise<Principal> {
    const user = await orAbsent(this.#activeUser(org_id, userId))
    return {
      ...user,
      permissions: permissions.intersection(user.permissions),
      personalKey: { id, name },
      ...(mayCallFrom && { mayCallFrom }),
      ...(expiresAtS !== undefined && { expiresAtS }),
    }
  }

  #holding({ identified, keyId, expiresAt, isPrevious }: CachedCaller, address: string): Principal | undefined {
    if (isExpired(expiresAt, this.#world.clock.nowMs())) return undefined
    this.#uses.record(keyId, address, isPrevious)
    return identified
  }
}

async function knownOf(world: Pick<World, 'meta'>, row: ApiKeyRow, orgNumber: number, isPrevious = false): Promise<CachedCaller> {
  const { org_id, id, name, roles, allowed_in_address: inAddress, query_budget, event_defaults, allowed_addresses } = row
  const expiresAt = isPrevious ? earlier(row.expires_at, row.previous_expires_at) : row.expires_at
  const permissions = await permissionsOf(world, org_id, roles)
  return {
    identified: {
      orgId: org_id,
      orgNumber,
      identity: { type: 'API_KEY_ID', id },
      name,
      roles,
      permissions,
      queryBudget: query_budget,
      ...(Object.keys(event_defaults).length > 0 && { eventDefaults: event_defaults }),
      ...(inAddress && { allowedInAddress: true }),
      ...(allowed_addresses.length > 0 && { mayCallFrom: networkCheck(allowed_addresses) }),
      ...(expiresAt !== null && { expiresAtS: expiresAt }),
    },
    keyId: id,
    expiresAt,
    isPrevious,
  }
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/** Finds the caller of a key by its id, with its permissions and expiry; undefined when the key is deleted. */
export const ownerOfKey = (world: Pick<World, 'meta'>, orgId: string, id: string): Promise<CachedCaller | undefined> =>
  world.meta.cached(orgId, `api-key of ${id}`, async () => {
    const row = await selectApiKeyById(world.meta, orgId, id)
    return row && knownOf(world, row, row.org_number)
  })

export const isExpired = (expiresAtS: number | null, nowMs: number): boolean => expiresAtS !== null && expiresAtS * 1000 <= nowMs

/** Keeps "not found" out of the cache: a key created a moment later must work. */
class NotFoundUncached extends Error {}

async function orAbsent<Row>(found: Promise<Row | undefined>): Promise<Row> {
  const row = await found
  if (row === undefined) throw new NotFoundUncached()
  return row
}

function absentOrThrow(thrown: unknown): undefined {
  if (!(thrown instanceof NotFoundUncached)) throw thrown
}
