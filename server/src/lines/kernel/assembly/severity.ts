import { byteAt, copyBytes, hashOf, isSame } from './bytes'
import { severityOfWord } from './host'
import { LEVEL_BYTES, LEVELS, LEVELS_MAX } from './memory'
import {
  EXCEPTION_FIRST,
  EXCEPTION_LAST,
  isThere,
  LEVEL_FIRST,
  LEVEL_LAST,
  lineRole,
  MSG,
  nestedRole,
  roleMask,
  STATUS,
  STATUS_FIRST,
  STATUS_LAST,
  TIME,
} from './roles'

/** The severities of table.ts. */
export const NONE: i32 = 0
const INFO: i32 = 3
const WARN: i32 = 4
export const ERROR: i32 = 5
/** Levels are words of a few characters; a longer text is none. */
const WORD_BYTES_MAX: i32 = 48

/** The fields of a level. */
const LENGTH: i32 = 0
const SEVERITY: i32 = 4
const WORD: i32 = 8

export function clearLevels(): void {
  for (let number = 0; number < LEVELS_MAX; number += 1) store<i32>(LEVELS + number * LEVEL_BYTES, -1, LENGTH)
}

let isOfMessage: bool = false

/** Reads the severity from the values of the line, or of the object in its message, as severityOf does. */
export function readSeverity(ofMessage: bool): i32 {
  isOfMessage = ofMessage
  if (isThere(roleMask(LEVEL_FIRST, LEVEL_LAST))) {
    for (let role = LEVEL_FIRST; role <= LEVEL_LAST; role += 1) {
      const value = roleValue(role)
      if (value === 0) continue
      const start = load<i32>(value, 4)
      const end = load<i32>(value, 8)
      const severity = severityOfText(start, end)
      if (severity !== NONE) return severity
      if (role !== LEVEL_FIRST || roleValue(TIME) === 0 || roleValue(MSG) === 0) continue
      const isNumber = end - start === 2 && byteAt(start + 1) === 0x30 && byteAt(start) >= 0x31 && byteAt(start) <= 0x36
      if (isNumber) return byteAt(start) - 0x30
    }
  }
  if (isThere(roleMask(STATUS_FIRST, STATUS_LAST) | roleMask(STATUS, STATUS))) {
    const first = severityOfStatus(STATUS)
    if (first !== NONE) return first
    for (let role = STATUS_FIRST; role <= STATUS_LAST; role += 1) {
      const severity = severityOfStatus(role)
      if (severity !== NONE) return severity
    }
  }
  if (!isThere(roleMask(EXCEPTION_FIRST, EXCEPTION_LAST))) return NONE
  for (let role = EXCEPTION_FIRST; role <= EXCEPTION_LAST; role += 1) if (roleValue(role) !== 0) return ERROR
  return NONE
}

function roleValue(role: i32): i32 {
  return isOfMessage ? nestedRole(role) : lineRole(role)
}

function severityOfStatus(role: i32): i32 {
  const value = roleValue(role)
  if (value === 0) return NONE
  const start = load<i32>(value, 4)
  if (load<i32>(value, 8) - start !== 3) return NONE
  const first = byteAt(start)
  if (first < 0x31 || first > 0x35 || !isDigit(start + 1) || !isDigit(start + 2)) return NONE
  return first === 0x35 ? ERROR : first === 0x34 ? WARN : INFO
}

function isDigit(at: i32): bool {
  return byteAt(at) >= 0x30 && byteAt(at) <= 0x39
}

function severityOfText(start: i32, end: i32): i32 {
  const length = end - start
  if (length === 0 || length > WORD_BYTES_MAX) return NONE
  const level = LEVELS + (hashOf(start, length, 0) & (LEVELS_MAX - 1)) * LEVEL_BYTES
  if (load<i32>(level, LENGTH) === length && isSame(start, level + WORD, length)) return load<i32>(level, SEVERITY)
  const severity = severityOfWord(start, length)
  store<i32>(level, length, LENGTH)
  store<i32>(level, severity, SEVERITY)
  copyBytes(level + WORD, start, length)
  return severity
}
