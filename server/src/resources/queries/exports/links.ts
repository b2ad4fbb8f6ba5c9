import { timingSafeEqual } from 'node:crypto'
import type { Actor } from '../../../http/actor.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'

/** The lifetime of a link. */
const LINK_MS = 3_600_000

export type DownloadLink = { id: string; expires?: string | undefined; by?: string | undefined; signature?: string | undefined }

/** Builds a download link that needs no credentials. It names its holder for the audit trail. */
export function signedLink({ clock, vault }: Pick<World, 'clock' | 'vault'>, actor: Actor, id: string): string {
  const expires = String(clock.nowMs() + LINK_MS)
  const by = `${actor.identity.type === 'USER_ID' ? 'user' : 'key'}-${actor.identity.id}`
  const signature = signatureOf(vault, { id, expires, by })
  return `${actor.facts.baseUrl}/exports/${id}/download?${new URLSearchParams({ expires, by, signature })}`
}

/** True if the signature is valid for this export and has not expired. */
export function holds({ clock, vault }: Pick<World, 'clock' | 'vault'>, { id, expires, by, signature }: DownloadLink): boolean {
  if (!expires || !by || !signature || !/^\d{1,16}$/.test(expires)) return false
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(vault, { id, expires, by }))]
  return given.length === right.length && timingSafeEqual(given, right) && Number(expires) > clock.nowMs()
}

const signatureOf = (vault: World['vault'], { id, expires, by }: { id: string; expires: string; by: string }): string =>
  vault.hashOf('download', new Secret([id, expires, by].join('\n'))).toString('base64url')
