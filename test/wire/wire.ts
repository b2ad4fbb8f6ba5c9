import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { StoredEvent } from '../support/stored-events.ts'

/**
 * Recordings of real senders: the bytes that unmodified programs sent for the same 120 lines. `test/wire/<program>-<version>-<protocol>.jsonl.gz`
 * has one JSON object per request, connection or socket; README.md there explains them.
 */
export type RecordedRequest = {
  transport: 'http' | 'https'
  method: string
  path: string
  /** In the sender's order and spelling. */
  headers: readonly (readonly [name: string, value: string])[]
  body_b64: string
  reply: { status: number; content_type: string | null; body: string }
}
export type RecordedConnection = { transport: 'tcp'; bytes_b64: string; sent_b64?: string }
export type RecordedDatagrams = { transport: 'udp'; datagrams_b64: readonly string[] }
export type RecordedCall = { transport: 'grpc'; service: string; method: string; message_b64: string; wire_message_b64?: string }
export type Recorded = RecordedRequest | RecordedConnection | RecordedDatagrams | RecordedCall

const unpacked = (file: string): string => gunzipSync(readFileSync(new URL(`${file}.gz`, import.meta.url))).toString('utf8')

export const readRecording = <One extends Recorded>(name: string): One[] =>
  unpacked(`${name}.jsonl`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as One)

/** The lines that every sender was given. */
export const wireLines: readonly string[] = unpacked('lines.txt').replace(/\n$/, '').split('\n')
const EMPTY_LINE = ''

/** How a sender changes the lines on the way. */
export type LineRule = {
  /** The text of a line as the event has it, or the object that the line was parsed to. */
  textOf: (event: StoredEvent) => unknown
  /** The part of a line that the sender sends at all. */
  sent?: (line: string) => unknown
  /** Keys of JSON lines that the sender moves elsewhere, such as the time. */
  moved?: readonly string[]
  /** The sender leaves out the empty line. */
  skipsEmpty?: true | undefined
  /** The longest text that the sender sends. */
  bytesMax?: number
}

/** The lines that no event has, and the events that are no line. Both must be empty. */
export function compareLines(events: readonly StoredEvent[], rule: LineRule): { missing: string[]; strange: string[] } {
  const left = new Map<string, number>()
  for (const event of events) {
    const key = keyOf(rule.textOf(event) ?? event.line, rule)
    left.set(key, (left.get(key) ?? 0) + 1)
  }
  const missing: string[] = []
  for (const line of wireLines) {
    if (line === EMPTY_LINE && rule.skipsEmpty) continue
    const key = keyOf(rule.sent?.(line) ?? line, rule)
    const count = left.get(key) ?? 0
    if (count === 0) missing.push(line)
    else left.set(key, count - 1)
  }
  return { missing, strange: [...left].flatMap(([key, count]) => Array.from({ length: count }, () => key)) }
}

/** Equal for a line and its event: blanks around it do not count, nor does the notation of JSON. */
function keyOf(text: unknown, { moved = [], bytesMax = Number.POSITIVE_INFINITY }: LineRule): string {
  const value = typeof text === 'string' ? (objectIn(text) ?? text.trim()) : text
  if (typeof value === 'string') return value.slice(0, bytesMax)
  const members = Object.entries(value as object).filter(([name, member]) => !moved.includes(name) && member !== null)
  return JSON.stringify(sorted(Object.fromEntries(members)))
}

export function objectIn(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined
    throw cause
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

/** The headers of a request as recorded, with the API key in place of the credential that the sender was given. */
export function headersWithKey({ headers }: Pick<RecordedRequest, 'headers'>, key: string): Record<string, string> {
  const sent: Record<string, string> = {}
  for (const [name, value] of headers) if (!/^(?:host|content-length|connection|expect)$/i.test(name)) sent[name] = value
  const credential = Object.keys(sent).find((name) => /^(?:authorization|dd-api-key|x-license-key)$/i.test(name))
  if (credential === undefined) return { ...sent, 'x-service-api-key': key }
  return { ...sent, [credential]: withKey(sent[credential] ?? '', key) }
}

function withKey(value: string, key: string): string {
  const [scheme = '', ...rest] = value.split(' ')
  if (rest.length === 0) return key
  return `${scheme} ${scheme.toLowerCase() === 'basic' ? Buffer.from(`user:${key}`).toString('base64') : key}`
}
