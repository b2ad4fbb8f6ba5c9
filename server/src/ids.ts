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
  correlation: () => randomUUID().replaceAll('-', ''),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
}
