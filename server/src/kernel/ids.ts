import { randomBytes, randomUUID } from 'node:crypto'

/** Source of all identifiers and secrets, so that tests can make them predictable. */
export type Ids = {
  uuid(): string
  /** Returns 32 lower-case hex digits, one per request. */
  correlation(): string
  /** Encodes the given number of random bytes as URL-safe text. */
  secret(bytes: number): string
}

/** Stands for an unknown dataset or identity, or nobody. It sorts before every other id. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000'

export const systemIds: Ids = {
  uuid: () => randomUUID(),
  correlation: correlations(),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
}

const CORRELATION_BYTES = 16
const POOL_BYTES = 4_096

/** Takes ids from a pool of random bytes, which costs a quarter of one system call per id. */
function correlations(): () => string {
  let pool = Buffer.alloc(0)
  let at = 0
  return () => {
    if (at === pool.length) {
      pool = randomBytes(POOL_BYTES)
      at = 0
    }
    at += CORRELATION_BYTES
    return pool.toString('hex', at - CORRELATION_BYTES, at)
  }
}
