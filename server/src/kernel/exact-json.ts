/** JSON with whole numbers beyond 2^53, which are bigint in the program and lose no digit. */

declare global {
  interface JSON {
    /** Carries text through JSON.stringify as it stands (Node 22 and newer; not yet in the compiler's library). */
    rawJSON(text: string): unknown
  }
}

/** Reports whether a text can have such numbers; only then reading it exactly is worth its cost. */
export const hasLargeIntegers = (text: string): boolean => /\d{16}/.test(text)

/** A reviver that reads whole numbers beyond 2^53 as bigint. */
export function keepLargeIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !context?.source) return value
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value
}

/** Reads JSON of our own. */
export const readJson = (text: string): unknown => JSON.parse(text, hasLargeIntegers(text) ? keepLargeIntegers : undefined)

/** Writes JSON; bigint becomes an exact integer. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? JSON.rawJSON(inner.toString()) : inner))
  }
}
