import { timingSafeEqual } from 'node:crypto'
import type { Actor } from '../../../http/actor.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'

/** LINK_MS is how long a link holds. */
const LINK_MS = 3_600_000

export type Link = { id: string; expires?: string | undefined; by?: string | undefined; signature?: string | undefined }

/** signedLink is where an export is downloaded without credentials; it says who was given it, for the audit trail. */
export function signedLink({ clock, vault }: Pick<World, 'clock' | 'vault'>, actor: Actor, id: string): string {
  const expires = String(clock.nowMs() + LINK_MS)
  const by = `${actor.identity.type === 'USER_ID' ? 'user' : 'key'}-${actor.identity.id}`
  const signature = signatureOf(vault, { id, expires, by })
  return `${actor.facts.baseUrl}/exports/${id}/download?${new URLSearchParams({ expires, by, signature })}`
}

/** holds tells whether a link was signed here, for this very export, and is not over. */
export function holds({ clock, vault }: Pick<World, 'clock' | 'vault'>, { id, expires, by, signature }: Link): boolean {
  if (!expires || !by || !signature || !/^\d{1,16}$/.test(expires)) return false
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(vault, { id, expires, by }))]
  return given.length === right.length && timingSafeEqual(given, right) && Number(expires) > clock.nowMs()
}

const signatureOf = (vault: World['vault'], { id, expires, by }: { id: string; expires: string; by: string }): string =>
  vault.hashOf('download', new Secret([id, expires, by].join('\n'))).toString('base64url')
