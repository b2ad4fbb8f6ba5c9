import { badRequest, Failure } from '../../../kernel/errors.ts'
import { BROKEN, END, endOfBrackets, endOfText, OPEN_ARRAY, OPEN_OBJECT, QUOTE, Walk } from '../../../lines/reference/walk.ts'
import { afterBlank, endOfLine, isBlank, lineWithin, searchable } from '../../intake/lines.ts'

const LINE_FEED = 0x0a
const COMMA = 0x2c
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d
/** The maximum length of an object that spans several lines. */
const SPREAD_BYTES_MAX = 2 ** 20

/** The number of lines that are parsed to their end to see whether each is one object. Of the others only the ends are checked, for speed. */
const LINES_READ_MAX = 16

/**
 * True when every line of a body is a separate event. False for an array, several objects in one line, and objects that span lines; a body
 * that begins with text consists of lines. Too many lines are refused.
 */
export function isLines(bytes: Uint8Array): boolean {
  const first = afterBlank(bytes, 0)
  if (bytes[first] === OPEN_ARRAY && isArrayOfObjects(bytes, first)) return false
  if (bytes[first] !== OPEN_OBJECT) return checkLineCount(bytes) >= 0
  const found = searchable(bytes)
  let seen = 0
  for (let at = first; at < bytes.length; ) {
    const lineEnd = endOfLine(found, at)
    const start = afterBlank(bytes, at, lineEnd)
    if (start < lineEnd) {
      const isOne = seen < LINES_READ_MAX ? isOneObject(bytes, start, lineEnd) : hasEndsOfObject(bytes, start, lineEnd)
      if (!isOne) return false
      seen += 1
    }
    at = lineEnd + 1
  }
  checkLines(seen)
  return true
}

function isOneObject(bytes: Uint8Array, start: number, lineEnd: number): boolean {
  if (bytes[start] !== OPEN_OBJECT) return false
  const end = endOfBrackets(bytes, start, lineEnd)
  return end > 0 && afterBlank(bytes, end, lineEnd) === lineEnd
}

function hasEndsOfObject(bytes: Uint8Array, start: number, lineEnd: number): boolean {
  let last = lineEnd - 1
  while (isBlank(bytes[last])) last -= 1
  return bytes[start] === OPEN_OBJECT && bytes[last] === CLOSE_OBJECT
}

/** Bounds the memory of one post in a worker. Lines do not count, since they are split one by one. */
export const EVENTS_MAX = 500_000

/** Splits a body into events: objects and elements of arrays in any layout, and lines of any other text. */
export function splitObjects(bytes: Uint8Array): Uint8Array[] {
  const events: Uint8Array[] = []
  const search = { lineEnd: -1, mayBeMultiline: true }
  for (let from = 0; from < bytes.length; ) {
    const at = afterBlank(bytes, from)
    if (at === bytes.length) break
    if (events.length > EVENTS_MAX) throw tooMany()
    // A line may contain a million objects, so its end is searched once.
    if (at >= search.lineEnd) search.lineEnd = endOfLine(bytes, at)
    if (bytes[at] === COMMA && events.length > 0) from = at + 1
    else if (bytes[at] === OPEN_ARRAY && isArrayOfObjects(bytes, at)) from = splitArray(bytes, at, events)
    else {
      const end = bytes[at] === OPEN_OBJECT ? endOfObject(bytes, at, search) : -1
      from = end < 0 ? search.lineEnd : end
      events.push(end < 0 ? lineWithin(bytes, startOfLine(bytes, at), from) : bytes.subarray(at, end))
    }
  }
  return events
}

const tooMany = (): Failure => new Failure(413, `more than ${EVENTS_MAX} objects in one post`)

type Search = { lineEnd: number; mayBeMultiline: boolean }

/** Searches beyond the line only until that failed once; otherwise each broken object would cause a search to the end of the body. */
function endOfObject(bytes: Uint8Array, start: number, search: Search): number {
  const end = endOfBrackets(bytes, start, search.lineEnd)
  if (end > 0) return mayFollow(bytes, afterBlank(bytes, end, search.lineEnd), search.lineEnd) ? end : -1
  if (!search.mayBeMultiline) return -1
  const far = endOfSpread(bytes, start)
  search.mayBeMultiline = far > 0
  return far
}

/** False when words follow an object on its line; the line is then text. */
const mayFollow = (bytes: Uint8Array, at: number, lineEnd: number): boolean =>
  at === lineEnd || bytes[at] === OPEN_OBJECT || bytes[at] === COMMA || bytes[at] === OPEN_ARRAY

/** Keeps the indentation of a text line. */
function startOfLine(bytes: Uint8Array, at: number): number {
  let start = at
  while (start > 0 && bytes[start - 1] !== LINE_FEED && isBlank(bytes[start - 1])) start -= 1
  return start
}

/** Returns the end of an object that spans lines, -1 when there is no such object. */
function endOfSpread(bytes: Uint8Array, start: number): number {
  const end = endOfBrackets(bytes, start, Math.min(bytes.length, start + SPREAD_BYTES_MAX))
  if (end < 0) return -1
  const walk = new Walk(bytes, start, end)
  for (;;) {
    const step = walk.next()
    if (step === END) return end
    if (step === BROKEN) return -1
  }
}

/** Distinguishes an array from a text line that begins with a bracket. */
function isArrayOfObjects(bytes: Uint8Array, start: number): boolean {
  const first = bytes[afterBlank(bytes, start + 1)]
  return first === OPEN_OBJECT || first === CLOSE_ARRAY
}

function splitArray(bytes: Uint8Array, start: number, events: Uint8Array[]): number {
  let at = afterBlank(bytes, start + 1)
  while (bytes[at] !== CLOSE_ARRAY) {
    const end = endOfElement(bytes, at)
    if (end < 0) throw unclosed()
    if (end > at) events.push(bytes.subarray(at, end))
    if (events.length > EVENTS_MAX) throw tooMany()
    at = afterBlank(bytes, end)
    if (at === bytes.length) throw unclosed()
    if (bytes[at] === COMMA) at = afterBlank(bytes, at + 1)
    else if (bytes[at] !== CLOSE_ARRAY) throw badRequest('the JSON array has no comma between two elements')
  }
  return at + 1
}

const unclosed = (): Failure => badRequest('the JSON array ends before its closing bracket')

/** Returns the end of an element without trailing blanks, -1 when the body ends first. */
function endOfElement(bytes: Uint8Array, start: number): number {
  const first = bytes[start]
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return endOfBrackets(bytes, start, bytes.length)
  if (first === QUOTE) {
    const close = endOfText(bytes, start + 1, bytes.length)
    return close < 0 ? -1 : close + 1
  }
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === COMMA || byte === CLOSE_ARRAY || isBlank(byte)) return at
  }
  return -1
}

/** Bounds the work of one post; only tiny lines reach it. */
const LINES_MAX = 1_000_000

/** Counts the lines that are not empty; too many are refused. */
export function checkLineCount(body: Uint8Array): number {
  const bytes = searchable(body)
  let lines = 0
  let at = 0
  for (let feed = bytes.indexOf(LINE_FEED); feed >= 0; at = feed + 1, feed = bytes.indexOf(LINE_FEED, at)) if (feed > at) lines += 1
  checkLines(lines)
  return lines + (at < bytes.length ? 1 : 0)
}

function checkLines(lines: number): void {
  if (lines > LINES_MAX) throw new Failure(413, `the body has more than ${LINES_MAX} lines`)
}

/** Recognizes the upload by which a log push service checks the endpoint. */
export const isUploadCheck = (bytes: Uint8Array): boolean =>
  bytes.length < 64 && /^\s*\{\s*"content"\s*:\s*"tests"\s*\}\s*$/.test(Buffer.from(bytes).toString('latin1'))
