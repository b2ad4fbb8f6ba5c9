import { badField } from '../../../kernel/errors.ts'

/** Shown in place of a secret; sent back, it keeps the secret. */
export const MASK = '***'

/** The secret to store: the given one, or for the mask the known one. `isSame` is true while the server and its account stay. */
export function keptSecret(given: string, known: string | undefined, isSame: boolean, field: string): string {
  if (given !== MASK) return given
  if (known === undefined) throw badField(field, `is new; ${MASK} only keeps an existing value`)
  if (!isSame) throw badField(field, `must be given again when the server or its account changes; ${MASK} does not keep it for another one`)
  return known
}
