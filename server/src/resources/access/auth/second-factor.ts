import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import { type Actor, sessionOf } from '../../../http/actor.ts'
import { badField, conflict, Failure, forbidden, notFound, unauthenticated } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'
import { auditActorOf, recordChange, recordRefusal } from '../audit/audit.ts'
import { beginFactor, type CodeVerdict, confirmFactor, factorState, removeFactor, verifyCode } from '../second-factors/second-factors.ts'
import { type LoginRow, loginOf, withPassword } from '../users/users.ts'
import { beginAttempt } from './attempts.ts'

type State = ReplyOf<typeof contract.secondFactor.get>
type Setup = ReplyOf<typeof contract.secondFactor.begin>

export async function getSecondFactor(world: World, actor: Actor): Promise<State> {
  const { isEnabled, recoveryCodesLeft } = await factorState(world, sessionOf(actor).userId)
  return { enabled: isEnabled, ...(isEnabled && { recovery_codes_left: recoveryCodesLeft }) }
}

/** Returns a secret for an authenticator app. Needs the password: a stolen token must not shut its user out. */
export async function beginSecondFactor(world: World, actor: Actor, ask: BodyOf<typeof contract.secondFactor.begin>): Promise<Setup> {
  const user = await userWithPassword(world, actor, ask.password)
  const begun = await world.meta.write(user.org_id, async (tx) => {
    const made = await beginFactor(world, tx, { orgId: user.org_id, userId: user.id, email: user.email })
    if (made) await recordChange(world, tx, actor, { entity: { type: 'user', id: user.id } })
    return made
  })
  if (!begun) throw conflict('the second factor is on; remove it before you set up another')
  return begun
}

export async function confirmSecondFactor(world: World, actor: Actor, { code }: { code: string }): Promise<{ recovery_codes: string[] }> {
  const { userId } = sessionOf(actor)
  const codes = await world.meta.write(actor.orgId, async (tx) => {
    const confirmed = await confirmFactor(world, tx, userId, code)
    if (confirmed) await recordChange(world, tx, actor, { entity: { type: 'user', id: userId }, after: { second_factor: true } })
    return confirmed
  })
  if (!codes) throw badField('code', 'is not the current code of the secret, or no second factor waits for its confirmation')
  return { recovery_codes: codes }
}

/** Switches the second factor off. Needs the password and a code. */
export async function removeSecondFactor(world: World, actor: Actor, ask: BodyOf<typeof contract.secondFactor.remove>): Promise<undefined> {
  const user = await userWithPassword(world, actor, ask.password)
  if (!(await factorState(world, user.id)).isEnabled) throw notFound('second factor of the user', user.id)
  if ((await verifyCode(world, { orgId: user.org_id, userId: user.id }, ask.code)) !== 'right') {
    await recordRefusal(world, auditActorOf(actor), { entity: { type: 'user', id: user.id } })
    throw badField('code', 'is wrong, or was used before')
  }
  await world.meta.write(user.org_id, async (tx) => {
    await removeFactor(tx, user.id)
    await recordChange(world, tx, actor, { entity: { type: 'user', id: user.id }, before: { second_factor: true } })
  })
}

/** Proves the password of the caller again, with the delays of a login. */
async function userWithPassword(world: World, actor: Actor, password: string): Promise<LoginRow> {
  const user = await loginOf(world, sessionOf(actor).userId)
  if (!user) throw unauthenticated()
  if (user.password_hash === null) throw forbidden('only users who log in with a password have a second factor here')
  const attempt = await beginAttempt(world, user.email_key, actor.facts.address)
  const [same] = await withPassword([user], new Secret(password))
  if (!same) {
    await recordRefusal(world, auditActorOf(actor), { entity: { type: 'user', id: user.id } })
    throw badField('password', 'is not the password of this user')
  }
  await attempt.succeeded()
  return same
}

/** The answer to a login whose password is right and whose code is not. */
export const codeRefused = (verdict: Exclude<CodeVerdict, 'right'>): Failure =>
  new Failure(401, verdict === 'missing' ? 'a code of the second factor is required' : 'the code is wrong, or was used before', {
    errors: [
      verdict === 'missing'
        ? { field: 'code', code: 'SECOND_FACTOR_REQUIRED', message: 'is required: this user has a second factor' }
        : { field: 'code', code: 'SECOND_FACTOR_WRONG', message: 'is wrong, or was used before' },
    ],
  })
