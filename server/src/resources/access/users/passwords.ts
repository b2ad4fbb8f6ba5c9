import { argon2, timingSafeEqual } from 'node:crypto'
import { unavailable } from '../../../kernel/errors.ts'
import type { Ids } from '../../../kernel/ids.ts'
import type { Secret } from '../../../kernel/secret.ts'
import { Slots } from '../../../kernel/slots.ts'

type Cost = { memoryKib: number; passes: number; parallelism: number }

/** The cost of new hashes. Each hash states its own, so the cost can be raised and old hashes still verified. */
const COST: Cost = { memoryKib: 19 * 1024, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32
/** Two at a time bound memory and CPU. As many may wait as log in when work begins, which takes seconds; a caller who would wait longer is refused instead. */
const RUNNING_MAX = 2
const WAITING_MAX = 300

/** Returns the stored form of a password: algorithm, cost, salt and hash. */
export async function hashPassword(world: { ids: Ids }, password: Secret): Promise<string> {
  const salt = Buffer.from(world.ids.secret(SALT_BYTES), 'base64url')
  const tag = await derive(password, salt, COST)
  return `$argon2id$v=19$${costText(COST)}$${unpadded(salt)}$${unpadded(tag)}`
}

/** Compares in constant time; without a stored hash it does the same work and returns false. */
export async function isPassword(password: Secret, stored: string | undefined): Promise<boolean> {
  const known = parse(stored ?? DUMMY_HASH)
  if (!known) throw new Error('a stored password hash cannot be read')
  const tag = await derive(password, known.salt, known.cost)
  return timingSafeEqual(tag, known.tag) && stored !== undefined
}

/** Reports whether a hash has another cost than new ones. */
export const isOutdated = (stored: string): boolean => !stored.startsWith(`$argon2id$v=19$${costText(COST)}$`)

const costText = ({ memoryKib, passes, parallelism }: Cost): string => `m=${memoryKib},t=${passes},p=${parallelism}`
const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/** Verified when there is no hash, so that it takes the same time. */
const DUMMY_HASH = `$argon2id$v=19$${costText(COST)}$${unpadded(Buffer.alloc(SALT_BYTES))}$${unpadded(Buffer.alloc(TAG_BYTES))}`

function parse(stored: string): { cost: Cost; salt: Buffer; tag: Buffer } | undefined {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored)
  if (!match) return undefined
  const [, memory, passes, parallelism, salt = '', tag = ''] = match
  const cost = { memoryKib: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') }
}

/** Normalizes the Unicode form first, so that the password matches however a keyboard composes letters. */
async function derive(password: Secret, salt: Buffer, cost: Cost): Promise<Buffer> {
  const message = Buffer.from(password.reveal().normalize('NFKC'))
  if (!(await slots.enter())) throw unavailable('too many concurrent logins')
  try {
    return await new Promise<Buffer>((resolve, reject) =>
      argon2(
        'argon2id',
        { message, nonce: salt, memory: cost.memoryKib, passes: cost.passes, parallelism: cost.parallelism, tagLength: TAG_BYTES },
        (failed, tag) => (failed ? reject(failed) : resolve(tag)),
      ),
    )
  } finally {
    slots.leave()
  }
}

/** One per process, not per world: it bounds the memory of the process. */
const slots = new Slots({ atOnce: RUNNING_MAX, waitingMax: WAITING_MAX })
