const SECONDS_DIGITS = 10
const MS_DIGITS = 13
const NS_DIGITS = 19
const FRACTION_DIGITS = 9
const [POINT, ZERO] = [0x2e, 0x30]

/**
 * Reads seconds, milliseconds and nanoseconds of this century as most senders write them, like parseTime but from bytes and without an object.
 * False for any other text.
 */
export function readPlainTime(bytes: Uint8Array, start: number, end: number, time: { ms: number; ns: number }): boolean {
  let at = start
  let whole = 0
  for (; at < end && at - start < MS_DIGITS; at += 1) {
    const digit = (bytes[at] as number) - ZERO
    if (digit < 0 || digit > 9) break
    whole = whole * 10 + digit
  }
  const digits = at - start
  if ((digits !== SECONDS_DIGITS && digits !== MS_DIGITS) || bytes[start] === ZERO) return false
  if (at === end) return setTime(time, digits, whole, 0)
  if (bytes[at] === POINT) return end - at - 1 <= FRACTION_DIGITS && setTime(time, digits, whole, fractionAt(bytes, at + 1, end))
  if (digits !== MS_DIGITS || end - start !== NS_DIGITS) return false
  const ns = fractionAt(bytes, at, end) / 1_000
  if (ns < 0) return false
  time.ms = whole
  time.ns = ns
  return true
}

/** The digits between two positions as billionths of one; negative when there are none or other bytes. */
function fractionAt(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) return -1
  let fraction = 0
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] as number) - ZERO
    if (digit < 0 || digit > 9) return -1
    fraction = fraction * 10 + digit
  }
  for (let digits = end - start; digits < FRACTION_DIGITS; digits += 1) fraction *= 10
  return fraction
}

function setTime(time: { ms: number; ns: number }, digits: number, whole: number, fraction: number): boolean {
  if (fraction < 0) return false
  const isMs = digits === MS_DIGITS
  const ns = isMs ? Math.floor(fraction / 1_000) : fraction % 1_000_000
  time.ms = isMs ? whole : whole * 1_000 + (fraction - ns) / 1_000_000
  time.ns = ns
  return true
}
