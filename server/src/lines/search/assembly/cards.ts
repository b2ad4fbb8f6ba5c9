import { BACKSLASH, byteAt, DOT, isDigit, isWordByte } from './bytes'

const DIGITS_MIN: i32 = 13
const DIGITS_MAX: i32 = 19
const GROUPS_MAX: i32 = 6
const SPACE: i32 = 0x20
const HYPHEN: i32 = 0x2d
/** The digits of the number that is read, and as many again for a group that is too long. */
const DIGITS: i32 = 288

/** True behind a byte that no word has, and behind a usual escape. */
export function beginsAt(start: i32, textStart: i32): bool {
  if (start === textStart) return true
  const before = byteAt(start - 1)
  if (!isWordByte(before)) return true
  const isEscaped = before === 0x6e || before === 0x72 || before === 0x74
  return isEscaped && start - 1 > textStart && byteAt(start - 2) === BACKSLASH
}

/** Digits that are the number of a card: one group, or groups of 4 to 6 with one kind of separator, of which the last may be shorter. */
export function isCard(tables: i32, at: i32, end: i32, textStart: i32): bool {
  if (!beginsAt(at, textStart) || isFraction(at, textStart)) return false
  let count = 0
  let place = at
  let separator = 0
  for (let group = 0; group < GROUPS_MAX; group += 1) {
    const first = place
    while (place < end && isDigit(byteAt(place))) {
      if (count === DIGITS_MAX) return false
      store<u8>(tables + DIGITS + count, byteAt(place))
      count += 1
      place += 1
    }
    if (count >= DIGITS_MIN && (place >= end || !isWordByte(byteAt(place))) && isNumber(tables, count)) return true
    if (place >= end) return false
    const next = byteAt(place)
    if (next !== SPACE && next !== HYPHEN) return false
    if (place - first > 6 || place - first < 4 || (group > 0 && next !== separator)) return false
    separator = next
    place += 1
    if (place >= end || !isDigit(byteAt(place))) return false
  }
  return false
}

/** The digits of a fraction, unless an escape ends before the dot. */
function isFraction(at: i32, textStart: i32): bool {
  if (at - 2 < textStart || byteAt(at - 1) !== DOT || !isDigit(byteAt(at - 2))) return false
  return !(at - 7 >= textStart && byteAt(at - 6) === 0x75 && byteAt(at - 7) === BACKSLASH)
}

function numberOf(tables: i32, digits: i32): i32 {
  let number = 0
  for (let place = 0; place < digits; place += 1) number = number * 10 + byteAt(tables + DIGITS + place) - 0x30
  return number
}

/** The numbers of the issuers begin so and have such lengths, and the last digit checks the others (ISO/IEC 7812). */
function isNumber(tables: i32, count: i32): bool {
  const four = numberOf(tables, 4)
  const two = four / 100
  const one = four / 1000
  const isIssued =
    one === 4 ||
    one === 6 ||
    two === 50 ||
    (two >= 56 && two <= 59) ||
    (count === 16 && ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720))) ||
    (count === 15 && (two === 34 || two === 37)) ||
    (count >= 14 && (two === 30 || two === 36 || two === 38 || two === 39)) ||
    (count >= 16 && two === 35)
  if (!isIssued) return false
  let sum = 0
  let isDoubled = false
  for (let place = count - 1; place >= 0; place -= 1) {
    const digit = (byteAt(tables + DIGITS + place) - 0x30) * (isDoubled ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
    isDoubled = !isDoubled
  }
  return sum % 10 === 0
}
