import type { PlainText } from '../../lines/plain-text.ts'
import { type FoundLeaf, leafAt } from '../../lines/text-line.ts'
import type { Instant } from '../../lines/time-text.ts'
import type { Header } from './plain.ts'
import { NamedTimes } from './time.ts'

const FRONT = /(?:([\w.-]+(?::\d+)?) )?(\S+) (\S+) (\S+) \[(?=\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] ")/y
const TIME = /(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d)( [+-]\d{4})/y
const BACK = /\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/y
const REQUEST = /^([A-Z]{3,20}) (\S+)(?: (HTTP\/[\d.]+))?$/
const NONE = '-'
const QUOTE_BLANK_QUOTE = '" "'.length

const times = new NamedTimes((text, start) => {
  TIME.lastIndex = start
  const match = TIME.exec(text)
  if (!match) return undefined
  const [whole, day = '', month = '', year, clock = '', tail = ''] = match
  return { layout: 'a', text: whole, head: whole.slice(0, whole.indexOf(':') + 1), year, month, day, clock, tail }
})

/** Reads the common and combined access log formats, optionally with a leading virtual host. */
export function accessLog(text: string, at: Instant): Header | undefined {
  // This cheap check excludes most other lines.
  if (!text.includes('] "')) return undefined
  FRONT.lastIndex = 0
  const front = FRONT.exec(text)
  const time = front ? times.read(text, front[0].length, at) : undefined
  if (!front || !time) return undefined
  BACK.lastIndex = time.end
  const back = BACK.exec(text)
  if (!back) return undefined
  const end = BACK.lastIndex
  return { leaves: leavesOf(front, back, time.end), time, restStart: end, wordsStart: end, isWhole: true }
}

function leavesOf(front: RegExpExecArray, back: RegExpExecArray, backStart: number): FoundLeaf[] {
  const [whole, vhost, client = '', ident = '', user = ''] = front
  const [, request = '', status = '', bytes = '', referer, agent] = back
  const [, method, path, protocol] = REQUEST.exec(request) ?? []
  const leaves: FoundLeaf[] = []
  const add = (name: string, value: string | undefined, start: number) => {
    if (value !== undefined && value !== NONE && value !== '') leaves.push(leafAt(name, value, start))
  }
  const userStart = whole.length - ' ['.length - user.length
  add('vhost', vhost, 0)
  add('client_ip', client, userStart - 2 - ident.length - client.length)
  add('user', user, userStart)
  const requestStart = backStart + '] "'.length
  add('method', method, requestStart)
  add('path', path ?? request, path === undefined ? requestStart : requestStart + (method ?? '').length + 1)
  add('protocol', protocol, requestStart + request.length - (protocol ?? '').length)
  const statusStart = requestStart + request.length + '" '.length
  add('status', status, statusStart)
  add('bytes', bytes, statusStart + status.length + 1)
  const refererStart = statusStart + status.length + 1 + bytes.length + ' "'.length
  add('referer', referer, refererStart)
  add('user_agent', agent, refererStart + (referer ?? '').length + QUOTE_BLANK_QUOTE)
  return leaves
}

const [SPACE, TAB, QUOTE, DASH, DOT, OPENING, CLOSING, BACKSLASH] = [0x20, 9, 0x22, 0x2d, 0x2e, 0x5b, 0x5d, 0x5c]
const METHOD_CHARS_MIN = 3
const METHOD_CHARS_MAX = 20
const HTTP = Uint8Array.from(Buffer.from('HTTP/'))
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

/** Reads an ASCII line without a virtual host as accessLog does. Returns the end of the record, -1 when only accessLog can tell. */
export function readAccessBytes(bytes: Uint8Array, at: Instant, found: PlainText): number {
  if (bytes.includes(BACKSLASH) || bytes.includes(TAB)) return -1
  const clientEnd = bytes.indexOf(SPACE)
  const identEnd = bytes.indexOf(SPACE, clientEnd + 1)
  const userEnd = bytes.indexOf(SPACE, identEnd + 1)
  if (clientEnd < 1 || identEnd <= clientEnd + 1 || userEnd <= identEnd + 1 || bytes[userEnd + 1] !== OPENING) return -1
  if (!times.readBytes(bytes, userEnd + 2, bytes.length, at, found)) return -1
  const requestStart = found.timeEnd + '] "'.length
  if (bytes[found.timeEnd] !== CLOSING || bytes[requestStart - 2] !== SPACE || bytes[requestStart - 1] !== QUOTE) return -1
  addUnlessNone(bytes, 'client_ip', 0, clientEnd, found)
  addUnlessNone(bytes, 'user', identEnd + 1, userEnd, found)
  const requestEnd = bytes.indexOf(QUOTE, requestStart)
  return requestEnd >= 0 && readRequest(bytes, requestStart, requestEnd, found) ? readBack(bytes, requestEnd, found) : -1
}

function readRequest(bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
  let methodEnd = start
  while (methodEnd < end && (bytes[methodEnd] as number) >= 0x41 && (bytes[methodEnd] as number) <= 0x5a) methodEnd += 1
  const length = methodEnd - start
  if (length < METHOD_CHARS_MIN || length > METHOD_CHARS_MAX || bytes[methodEnd] !== SPACE) return false
  let pathEnd = methodEnd + 1
  while (pathEnd < end && bytes[pathEnd] !== SPACE) pathEnd += 1
  if (pathEnd === methodEnd + 1) return false
  found.add('method', start, methodEnd)
  addUnlessNone(bytes, 'path', methodEnd + 1, pathEnd, found)
  if (pathEnd === end) return true
  const versionStart = pathEnd + 1 + HTTP.length
  if (versionStart >= end) return false
  for (let at = 0; at < HTTP.length; at += 1) if (bytes[pathEnd + 1 + at] !== HTTP[at]) return false
  for (let at = versionStart; at < end; at += 1) if (!isDigit(bytes[at]) && bytes[at] !== DOT) return false
  return found.add('protocol', pathEnd + 1, end)
}

/** Reads the status, the number of bytes, and the referer and user agent if both are there. */
function readBack(bytes: Uint8Array, requestEnd: number, found: PlainText): number {
  const status = requestEnd + 2
  const size = status + 4
  if (bytes[status - 1] !== SPACE || bytes[size - 1] !== SPACE) return -1
  for (let at = status; at < status + 3; at += 1) if (!isDigit(bytes[at])) return -1
  let sizeEnd = size
  while (isDigit(bytes[sizeEnd])) sizeEnd += 1
  if (sizeEnd === size && bytes[size] === DASH) sizeEnd += 1
  if (sizeEnd === size) return -1
  found.add('status', status, status + 3)
  addUnlessNone(bytes, 'bytes', size, sizeEnd, found)
  const referer = sizeEnd + 2
  if (bytes[sizeEnd] !== SPACE || bytes[referer - 1] !== QUOTE) return sizeEnd
  const refererEnd = bytes.indexOf(QUOTE, referer)
  const agent = refererEnd + QUOTE_BLANK_QUOTE
  if (refererEnd < 0 || bytes[agent - 2] !== SPACE || bytes[agent - 1] !== QUOTE) return sizeEnd
  const agentEnd = bytes.indexOf(QUOTE, agent)
  if (agentEnd < 0) return sizeEnd
  addUnlessNone(bytes, 'referer', referer, refererEnd, found)
  addUnlessNone(bytes, 'user_agent', agent, agentEnd, found)
  return agentEnd + 1
}

function addUnlessNone(bytes: Uint8Array, path: string, start: number, end: number, found: PlainText): void {
  if (end > start && !(end - start === 1 && bytes[start] === DASH)) found.add(path, start, end)
}
