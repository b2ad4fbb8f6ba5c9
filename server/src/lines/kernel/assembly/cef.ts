import { BACKSLASH, byteAt } from './bytes'
import { scratchEnd, setScratch } from './escapes'
import { FULL, keyOf, pathOf, ROOT } from './keys'
import { CEF_FIELDS, CEF_VERSION, SEVERITY } from './names'
import { addInner } from './nested'
import { BLANK, DIGIT, findBytes, isByte, isWordAt, kindAt, runEnd, runEndWithout, WORD } from './text-kinds'

/** Reads the Common Event Format as ingest/detect/message.ts does. */
const FIELDS: i32 = 6
const NAME_CHARS_MAX: i32 = 128
const BAR: i32 = 0x7c
const EQUALS: i32 = 0x3d
const POINT: i32 = 0x2e
const DASH: i32 = 0x2d

export const NO_CEF: i32 = 0
export const IS_CEF: i32 = 1

/** Reads the part of a text between two positions: NO_CEF, IS_CEF, or FULL when there is no more room. */
export function readCef(from: i32, to: i32): i32 {
  const at = cefAt(from, to)
  if (at === to) return NO_CEF
  const versionEnd = runEnd(at + 4, to, DIGIT)
  const start = versionEnd + 1
  let fields = 1
  for (let end = barAfter(start, start, to); end < to && fields < FIELDS; end = barAfter(end + 1, start, to)) fields += 1
  if (fields < FIELDS) return NO_CEF
  addInner(CEF_VERSION, at + 4, versionEnd, 0)
  let field = start
  for (let number = 0; number < FIELDS; number += 1) {
    const end = barAfter(field, start, to)
    addField(number === FIELDS - 1 ? SEVERITY : CEF_FIELDS + number, field, end, BAR)
    field = end + 1
  }
  return field >= to || readExtension(field, to) ? IS_CEF : FULL
}

/** The place of `CEF:` with a version, at the beginning or behind a blank; the end for none. */
function cefAt(from: i32, to: i32): i32 {
  for (let at = findBytes(0x43, 0x45, from, to); at < to; at = findBytes(0x43, 0x45, at + 1, to)) {
    if (!isWordAt(at, to, 'CEF:') || (at > from && (kindAt(at - 1) & BLANK) === 0)) continue
    const end = runEnd(at + 4, to, DIGIT)
    if (end > at + 4 && isByte(end, to, BAR)) return at
  }
  return to
}

/** The next bar that no backslash precedes; the end for none. */
function barAfter(from: i32, start: i32, to: i32): i32 {
  let at = from
  while (at < to && (byteAt(at) !== BAR || (at > start && byteAt(at - 1) === BACKSLASH))) at += 1
  return min(at, to)
}

/** Reads pairs whose values may contain spaces: each value ends at the next key. */
function readExtension(from: i32, to: i32): bool {
  let name = keyAt(from, from, to)
  while (name < to) {
    const equals = nameEnd(name, to)
    let start = equals + 1
    const next = keyAt(start, from, to)
    let end = next < to ? next - 1 : to
    start = runEnd(start, end, BLANK)
    while (end > start && (kindAt(end - 1) & BLANK) !== 0) end -= 1
    const key = keyOf(name, equals, ROOT)
    if (key === FULL) return false
    addField(pathOf(key), start, end, EQUALS)
    name = next
  }
  return true
}

/** The next name before an equals sign, at the beginning or behind a blank; the end for none. */
function keyAt(at: i32, from: i32, to: i32): i32 {
  if (at === from && isKey(at, to)) return at
  let place = runEndWithout(at, to, BLANK)
  while (place < to) {
    if (isKey(place + 1, to)) return place + 1
    place = runEndWithout(place + 1, to, BLANK)
  }
  return to
}

function isKey(name: i32, to: i32): bool {
  const end = nameEnd(name, to)
  return end > name && end - name <= NAME_CHARS_MAX && isByte(end, to, EQUALS)
}

function nameEnd(name: i32, to: i32): i32 {
  let end = name
  while (end < to && ((kindAt(end) & WORD) !== 0 || byteAt(end) === POINT || byteAt(end) === DASH)) end += 1
  return end
}

/** Adds a value without its escapes: a backslash before another, or before the sign that ends it, and in pairs the one of a line feed. */
function addField(path: i32, start: i32, end: i32, sign: i32): void {
  const from = scratchEnd()
  let put = from
  for (let at = start; at < end; at += 1) {
    const isEscape = byteAt(at) === BACKSLASH && at + 1 < end && (byteAt(at + 1) === sign || byteAt(at + 1) === BACKSLASH)
    if (isEscape) at += 1
    store<u8>(put, byteAt(at))
    put += 1
  }
  if (sign === EQUALS) put = withLineFeeds(from, put)
  setScratch(put)
  addInner(path, from, put, 0)
}

function withLineFeeds(start: i32, end: i32): i32 {
  let put = start
  for (let at = start; at < end; at += 1) {
    const isOne = byteAt(at) === BACKSLASH && at + 1 < end && byteAt(at + 1) === 0x6e
    if (isOne) at += 1
    store<u8>(put, isOne ? 0x0a : byteAt(at))
    put += 1
  }
  return put
}
