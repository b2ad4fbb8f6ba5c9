/** The id of a pattern or family, as `/patterns` and `@pattern` write it: 16 hex digits. */
export const patternId = (hash: bigint): string => hash.toString(16).padStart(16, '0')

const ID = /^[\da-f]{16}$/

/** The hash of an id; undefined for other texts, and for the hash 0, which no pattern has. */
export function hashOfPatternId(id: string): bigint | undefined {
  if (!ID.test(id)) return undefined
  return BigInt(`0x${id}`) || undefined
}
