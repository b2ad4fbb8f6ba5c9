import { randomBytes, randomUUID } from 'node:crypto'

/** Ids makes every identifier and secret of the service, so that tests can foresee them. */
export type Ids = {
  uuid(): string
  /** correlation is 32 lower-case hex digits, one per request. */
  correlation(): string
  /** secret is URL-safe text of the given number of random bytes. */
  secret(bytes: number): string
}

export const systemIds: Ids = {
  uuid: () => randomUUID(),
  correlation: correlations(),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
}

const CORRELATION_BYTES = 16
const POOL_BYTES = 4_096

/** correlations gives ids out of a pool of random bytes: one call for many of them costs a quarter of one call for each. */
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
