import type { RequestFacts } from '../../../http/actor.ts'
import { badField, badRequest } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { invitationMail } from './invitation-mail.ts'
import { brokenRule } from './password-rules.ts'
import { hashPassword } from './passwords.ts'
import {
  consumeInvitation,
  deleteSessionsOf,
  lockUser,
  selectInvitation,
  selectUser,
  type UserRow,
  updatePasswordHash,
  updateUserRow,
  upsertInvitation,
} from './rows.ts'
import { hasPassword } from './user-record.ts'

const TOKEN_BYTES = 32
const DAY_MS = 86_400_000
const VALID_MS = 7 * DAY_MS
/** The time for the relay while the inviting user waits; after that the link is returned instead. */
const MAIL_WAIT_MS = 5_000

/** The link, only if no mail could be sent. */
export type InvitationDelivery = { invitation_url?: string }

/** Creates the one-time link of a user and replaces an earlier one; only its keyed hash is stored. */
export async function invite(world: Pick<World, 'clock' | 'ids' | 'vault'>, tx: Db, user: UserRow): Promise<Secret> {
  const token = new Secret(world.ids.secret(TOKEN_BYTES))
  const nowMs = world.clock.nowMs()
  await upsertInvitation(tx, {
    org_id: user.org_id,
    user_id: user.id,
    token_hash: world.vault.hashOf('invitation', token),
    created_at: nowMs,
    expires_at: nowMs + VALID_MS,
  })
  return token
}

/** Mails the link, or returns it if the relay hangs or refuses; the user is created in any case. */
export async function sendInvitation(
  world: Pick<World, 'mailer' | 'log'>,
  facts: RequestFacts,
  invitation: { kind: 'invitation' | 'reset'; user: UserRow; token: Secret },
): Promise<InvitationDelivery> {
  const { kind, user, token } = invitation
  const url = `${facts.baseUrl}/accept-invite?token=${token.reveal()}`
  if (!world.mailer.configured) return { invitation_url: url }
  try {
    await world.mailer.send(invitationMail(kind, user, { url, validDays: VALID_MS / DAY_MS }), AbortSignal.timeout(MAIL_WAIT_MS))
    return {}
  } catch (thrown) {
    world.log.warn(
      { user_id: user.id, reason: thrown instanceof Error ? thrown.name : 'unknown' },
      'an invitation could not be sent by mail',
    )
    return { invitation_url: url }
  }
}

export type Invitation = { user: UserRow; tokenHash: Buffer }

/** Finds the user of a link. Used, replaced, expired and unknown links are indistinguishable. */
export async function findInvitation(world: Pick<World, 'meta' | 'vault' | 'clock'>, token: Secret): Promise<Invitation> {
  const tokenHash = world.vault.hashOf('invitation', token)
  const row = await selectInvitation(world.meta, tokenHash)
  if (!row || row.expires_at <= world.clock.nowMs()) throw invitationInvalid()
  const user = await selectUser(world.meta, row.org_id, row.user_id)
  if (!user) throw invitationInvalid()
  return { user, tokenHash }
}

/** Hashes a password; rejects one that breaks a rule, under the name of its field. */
export async function choosePassword(world: Pick<World, 'ids'>, user: UserRow, password: Secret, field: string): Promise<string> {
  const broken = brokenRule(password.reveal(), user)
  if (broken) throw badField(field, broken)
  return hashPassword(world, password)
}

/** Uses up the link: sets the password, ends all sessions, and makes an invited user ACTIVE. */
export async function redeem(world: Pick<World, 'clock'>, tx: Db, { user, tokenHash }: Invitation, passwordHash: string): Promise<UserRow> {
  const nowMs = world.clock.nowMs()
  const taken = await consumeInvitation(tx, user.org_id, tokenHash, nowMs)
  const before = taken && (await lockUser(tx, user.org_id, taken.user_id))
  if (!before || before.status === 'DEACTIVATED' || !hasPassword(before)) throw invitationInvalid()
  const after: UserRow = { ...before, status: 'ACTIVE', accepted_at: before.accepted_at ?? nowMs }
  await updateUserRow(tx, after)
  await updatePasswordHash(tx, after.org_id, after.id, passwordHash)
  await deleteSessionsOf(tx, after.id)
  return after
}

const invitationInvalid = () => badRequest('this invitation has been used, replaced or has expired; ask for a new one')
