import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { openSecret, type SecretPlace, sealSecret } from '../secrets/secrets.ts'
import type { IdpRow } from '../sso/sso.ts'
import { insertSignOn, type SignOnRow } from './sign-on-rows.ts'

/** What the service keeps of a sign-on: a token to ask the provider again, and what a logout at the provider has to name. */
export type Kept = {
  token?: { type: 'REFRESH' | 'ACCESS'; text: string; endsAtMs?: number | undefined } | undefined
  hint?: string | undefined
}

/** The length of a session about which the provider cannot be asked again, if nothing says otherwise. */
const UNCHECKED_MS = 60 * 60_000
const SHORTEST_MS = 5 * 60_000
const MINUTE_MS = 60_000
/** A hint has to fit in an address. */
const HINT_LENGTH_MAX = 6_000

/** When the sessions of a sign-on end at the latest; undefined if the provider is asked again while they are open. */
export function endOfSessions(
  idp: Pick<IdpRow, 'session_minutes'>,
  { token, endsAtMs }: { token?: Kept['token'] | undefined; endsAtMs?: number | undefined },
  nowMs: number,
): number | undefined {
  if (token?.type === 'REFRESH') return endsAtMs
  const byToken = token?.endsAtMs === undefined ? UNCHECKED_MS : Math.max(SHORTEST_MS, token.endsAtMs - nowMs)
  const lastsMs = idp.session_minutes === null ? byToken : idp.session_minutes * MINUTE_MS
  return Math.min(nowMs + lastsMs, endsAtMs ?? Number.POSITIVE_INFINITY)
}

type SignOnOf = Pick<SignOnRow, 'org_id' | 'idp_id' | 'user_id' | 'subject'>

/** Returns the id that the sessions of the sign-on refer to. */
export async function keepSignOn(world: World, tx: Db, of: SignOnOf, { token, hint }: Kept): Promise<string> {
  const id = world.ids.uuid()
  const sealed = async (column: 'token' | 'hint', text: string | undefined): Promise<Buffer | null> =>
    text === undefined ? null : sealSecret(world, tx, placeOf({ org_id: of.org_id, id }, column), new Secret(text))
  await insertSignOn(tx, {
    ...of,
    id,
    token_type: token?.type ?? null,
    token: await sealed('token', token?.text),
    token_ends_at: token?.endsAtMs ?? null,
    hint: await sealed('hint', hint !== undefined && hint.length <= HINT_LENGTH_MAX ? hint : undefined),
    checked_at: world.clock.nowMs(),
    failures: 0,
  })
  return id
}

type Sealed = Pick<SignOnRow, 'org_id' | 'id' | 'token' | 'hint'>

export const keptSecret = async (
  world: Pick<World, 'vault' | 'meta'>,
  row: Sealed,
  column: 'token' | 'hint',
): Promise<Secret | undefined> => {
  const sealed = row[column]
  return sealed === null ? undefined : openSecret(world, world.meta, placeOf(row, column), sealed)
}

export const sealedToken = (world: Pick<World, 'vault'>, tx: Db, row: Sealed, token: string): Promise<Buffer> =>
  sealSecret(world, tx, placeOf(row, 'token'), new Secret(token))

const placeOf = ({ org_id, id }: Pick<SignOnRow, 'org_id' | 'id'>, column: string): SecretPlace => ({
  orgId: org_id,
  table: 'sso_sign_ons',
  row: id,
  column,
})
