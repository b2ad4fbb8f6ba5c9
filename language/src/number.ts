const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WHOLE = /^[+-]?\d+$/
const INT64_MAX = 2n ** 63n - 1n

/** Whether a text is a number: sign, digits, point, exponent and nothing else. */
export const isNumber = (text: string): boolean => NUMBER.test(text)

/** Returns the number of a text, or undefined when it is not a finite number. */
export function numberOf(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/** Returns the number for numeric equality. Undefined beyond 2^53, where two ids may share a float and only their digits count. */
export function safeNumberOf(text: string): number | undefined {
  const number = numberOf(text)
  return number !== undefined && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined
}

/** Parses a signed 64-bit integer, such as a sequence number. */
export function int64Of(text: string): bigint | undefined {
  if (!WHOLE.test(text)) return undefined
  const whole = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return whole <= INT64_MAX && whole >= -INT64_MAX ? whole : undefined
}

/** Whether several integers of this size share a float. */
export const exceedsFloatPrecision = (size: number): boolean => Math.abs(size) > Number.MAX_SAFE_INTEGER

/** Returns the digits of an integer without sign and leading zeros, or undefined for other notations. */
export const digitsOf = (text: string): string | undefined => (WHOLE.test(text) ? text.replace(/^[+-]?0*/, '') : undefined)

/** Compares two numeric texts: as floats, and integers that share a float by their digits. */
export function compareNumbers(one: string, other: string): number {
  const [left, right] = [Number(one), Number(other)]
  if (left !== right || !exceedsFloatPrecision(left)) return left - right
  const [digits, otherDigits] = [digitsOf(one), digitsOf(other)]
  if (digits === undefined || otherDigits === undefined || digits === otherDigits) return 0
  const isLess = digits.length === otherDigits.length ? digits < otherDigits : digits.length < otherDigits.length
  return isLess === left > 0 ? -1 : 1
}
