import { randomBytes } from 'node:crypto'
import { Failure } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { openSecret, type SecretPlace, sealSecret } from '../secrets/secrets.ts'
import { deleteFactor, insertFactor, lockFactor, type SecondFactorRow, selectFactor, updateFactor } from './rows.ts'
import { base32, stepOfCode, totpAddress } from './totp.ts'

type FactorWorld = Pick<World, 'meta' | 'vault' | 'clock'>

const KEY_BYTES = 20
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10
/** So many wrong codes in a window are checked; then none is, until the window ends. Guessing would take years. */
const FAILURES_MAX = 10
const WINDOW_MS = 15 * 60_000

type FactorState = { isEnabled: boolean; recoveryCodesLeft: number }

export async function factorState({ meta }: Pick<World, 'meta'>, userId: string): Promise<FactorState> {
  const row = await selectFactor(meta, userId)
  const isEnabled = row !== undefined && row.confirmed_at !== null
  return { isEnabled, recoveryCodesLeft: isEnabled ? row.recovery_hashes.length : 0 }
}

type Account = { orgId: string; userId: string; email: string }

/** Stores another secret, which counts once a code of it was confirmed; undefined if there is a confirmed one. */
export async function beginFactor(world: FactorWorld, tx: Db, { orgId, userId, email }: Account) {
  const key = randomBytes(KEY_BYTES)
  const secret = base32(key)
  const sealed = await sealSecret(world, tx, placeOf({ org_id: orgId, user_id: userId }), new Secret(key.toString('base64')))
  if (!(await insertFactor(tx, { org_id: orgId, user_id: userId, secret: sealed }))) return undefined
  return { secret, address: totpAddress(secret, email) }
}

/** Switches the second factor on after a first right code, and returns recovery codes; undefined for a wrong code, or if nothing waits for one. */
export async function confirmFactor(world: FactorWorld, tx: Db, userId: string, code: string): Promise<string[] | undefined> {
  const row = await lockFactor(tx, userId)
  if (!row || row.confirmed_at !== null) return undefined
  const checked = await checkCode(world, tx, row, code)
  if (!checked) return undefined
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
  const recovery_hashes = codes.map((one) => recoveryHash(world, one))
  await updateFactor(tx, { ...checked, confirmed_at: world.clock.nowMs(), recovery_hashes })
  return codes
}

export type CodeVerdict = 'right' | 'wrong' | 'missing'

/** Checks the code of a user in a transaction of its own, so that a wrong code counts although the login fails. Without a second factor no code is needed. */
export async function verifyCode(
  world: FactorWorld,
  { orgId, userId }: { orgId: string; userId: string },
  code: string | undefined,
): Promise<CodeVerdict> {
  const { isEnabled } = await factorState(world, userId)
  if (!isEnabled) return 'right'
  if (code === undefined || code.trim() === '') return 'missing'
  return world.meta.write(orgId, async (tx) => {
    const row = await lockFactor(tx, userId)
    if (!row || row.confirmed_at === null) return 'right'
    return (await checkCode(world, tx, row, code)) ? 'right' : 'wrong'
  })
}

/** Removes the second factor; false if there was none. */
export const removeFactor = async (tx: Db, userId: string): Promise<boolean> => (await deleteFactor(tx, userId)) > 0

/** Accepts a code of the locked row once, or counts it as wrong. Returns the changed row. */
async function checkCode(world: FactorWorld, tx: Db, row: SecondFactorRow, given: string): Promise<SecondFactorRow | undefined> {
  const nowMs = world.clock.nowMs()
  const isOpen = row.failures_until > nowMs && row.failures_until <= nowMs + WINDOW_MS
  const failures = isOpen ? row.failures : 0
  if (failures >= FAILURES_MAX) throw tooMany(row.failures_until - nowMs)
  const accepted = await acceptedBy(world, tx, row, given.replace(/[\s-]/g, ''), nowMs)
  const next = accepted
    ? { ...accepted, failures: 0, failures_until: 0 }
    : { ...row, failures: failures + 1, failures_until: isOpen ? row.failures_until : nowMs + WINDOW_MS }
  await updateFactor(tx, next)
  return accepted && next
}

async function acceptedBy(
  world: FactorWorld,
  tx: Db,
  row: SecondFactorRow,
  code: string,
  nowMs: number,
): Promise<SecondFactorRow | undefined> {
  const key = Buffer.from((await openSecret(world, tx, placeOf(row), row.secret)).reveal(), 'base64')
  const step = stepOfCode(key, code, nowMs, row.last_step)
  if (step !== undefined) return { ...row, last_step: step }
  const hash = recoveryHash(world, code)
  const left = row.recovery_hashes.filter((one) => !one.equals(hash))
  return left.length < row.recovery_hashes.length ? { ...row, recovery_hashes: left } : undefined
}

const placeOf = ({ org_id, user_id }: Pick<SecondFactorRow, 'org_id' | 'user_id'>): SecretPlace => ({
  orgId: org_id,
  table: 'second_factors',
  row: user_id,
  column: 'secret',
})

const newRecoveryCode = (): string => {
  const text = base32(randomBytes(RECOVERY_BYTES)).toLowerCase()
  return (text.match(/.{4}/g) ?? []).join('-')
}

const recoveryHash = ({ vault }: Pick<World, 'vault'>, code: string): Buffer =>
  vault.hashOf('recovery-code', new Secret(code.replace(/[\s-]/g, '').toLowerCase()))

function tooMany(retryAfterMs: number): Failure {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new Failure(429, `too many wrong codes; try again in ${seconds} s`, { headers: { 'retry-after': String(seconds) } })
}
