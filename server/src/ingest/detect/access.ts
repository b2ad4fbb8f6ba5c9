import { type FoundLeaf, leafAt } from '../../lines/reference/text-line.ts'
import type { Instant } from '../../lines/values/time-text.ts'
import type { Header } from './plain.ts'
import { namedTimes } from './time.ts'

const FRONT = /(?:([\w.-]+(?::\d+)?) )?(\S+) (\S+) (\S+) \[(?=\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] ")/y
const TIME = /(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d)( [+-]\d{4})/y
const BACK = /\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/y
const REQUEST = /^([A-Z]{3,20}) (\S+)(?: (HTTP\/[\d.]+))?$/
const NONE = '-'
const QUOTE_BLANK_QUOTE = '" "'.length

const timeAt = namedTimes((text, start) => {
  TIME.lastIndex = start
  const match = TIME.exec(text)
  if (!match) return undefined
  const [whole, day = '', month = '', year, clock = '', tail = ''] = match
  return { layout: 'a', text: whole, year, month, day, clock, tail }
})

/** Reads the common and combined access log formats, optionally with a leading virtual host. */
export function accessLog(text: string, at: Instant): Header | undefined {
  // This cheap check excludes most other lines.
  if (!text.includes('] "')) return undefined
  FRONT.lastIndex = 0
  const front = FRONT.exec(text)
  const time = front ? timeAt(text, front[0].length, at) : undefined
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
