const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WHOLE = /^[+-]?\d+$/
const INT64_MAX = 2n ** 63n - 1n

/** isNumber reports whether a text is written as a number: sign, digits, point, exponent and nothing else. */
export const isNumber = (text: string): boolean => NUMBER.test(text)

/** numberOf is the number that a text reads as, of a literal as of a value; undefined when it reads as none or as one beyond all bounds. */
export function numberOf(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/** sizeOf is the number that `=` compares by size; undefined beyond 2^53, where two ids may share one float and only their digits count. */
export function safeNumberOf(text: string): number | undefined {
  const number = numberOf(text)
  return number !== undefined && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined
}

/** wholeOf reads a whole number of at most 64 bits, as sequence numbers are written. */
export function int64Of(text: string): bigint | undefined {
  if (!WHOLE.test(text)) return undefined
  const whole = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return whole <= INT64_MAX && whole >= -INT64_MAX ? whole : undefined
}

/** isBeyondFloats says of the size of a number that others may share its float. */
export const exceedsFloatPrecision = (size: number): boolean => Math.abs(size) > Number.MAX_SAFE_INTEGER

/** digitsOf are the digits of a whole number without sign and leading zeros; undefined for what is written in another way. */
export const digitsOf = (text: string): string | undefined => (WHOLE.test(text) ? text.replace(/^[+-]?0*/, '') : undefined)

/** orderOfNumbers orders two texts that read as numbers: by their floats, and whole numbers that share one by their digits. */
export function compareNumbers(one: string, other: string): number {
  const [left, right] = [Number(one), Number(other)]
  if (left !== right || !exceedsFloatPrecision(left)) return left - right
  const [digits, otherDigits] = [digitsOf(one), digitsOf(other)]
  if (digits === undefined || otherDigits === undefined || digits === otherDigits) return 0
  const isLess = digits.length === otherDigits.length ? digits < otherDigits : digits.length < otherDigits.length
  return isLess === left > 0 ? -1 : 1
}
