import { Failure } from '../../kernel/errors.ts'
import {
  type IngestOutcome,
  type IngestRequest,
  type ParsedBody,
  type ReceivedRecord,
  type Receiver,
  type ReceiverReply,
  type ReplyContext,
  recordsOf,
} from '../batch.ts'

/** A request as it came over the wire, and the expected result, line by line. */
export type Case = { name: string; method: string; request: IngestRequest; expected: readonly string[] }

/**
 * Reads cases of the form: `=== name`, a request line, header lines, a blank line, the body, `---`, the expected lines. A body is literal,
 * without its last line end; with the header `body: hex` it is in hex.
 */
export function readCases(file: string): Case[] {
  return file
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const [request = '', expected = ''] = part.split(/^---\n/m)
      return { ...readRequest(request), expected: expected.split('\n').filter((line) => line !== '' && !line.startsWith('#')) }
    })
}

function readRequest(text: string): Omit<Case, 'expected'> {
  const [head = '', ...rest] = text.split('\n\n')
  const [name = '', first = '', ...lines] = head.trimEnd().split('\n')
  const [method = '', address = ''] = first.split(' ')
  const url = new URL(address, 'http://ingest')
  const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
  const written = rest.join('\n\n').replace(/\n$/, '')
  const body = headers.body === 'hex' ? Buffer.from(written.replace(/\s/g, ''), 'hex') : Buffer.from(written)
  const query = Object.fromEntries(url.searchParams)
  return { name, method, request: { path: url.pathname, query, headers, contentType: headers['content-type'] ?? '', body } }
}

const CONTEXT: ReplyContext = {
  sender: 'a',
  nowMs: 1_735_689_600_000,
  credential: 'present',
  drains: { secrets: [], verify: 'v-1' },
  acknowledgements: undefined,
}

/** Handles a request as the intake does, and prints the result as lines. */
export function runCase(receiver: Receiver, { method, request }: Pick<Case, 'method' | 'request'>): string[] {
  const route = receiver.routes.find((one) => one.methods.includes(method) && one.tail.test(request.path))
  if (!route && !receiver.claims?.(request)) return ['no route']
  const early = route?.probe?.(request, CONTEXT) ?? receiver.early?.(request, CONTEXT)
  if (early) return answerLines(early)
  try {
    const parsed = receiver.parse(request)
    const { rejected, total, notes } = structuredClone({ rejected: parsed.rejected, total: parsed.total, notes: parsed.notes })
    const outcome: IngestOutcome = { kind: 'stored', accepted: total - rejected.length, rejected: [], total, duplicates: [] }
    return [...parsedLines(parsed), ...answerLines(receiver.reply(request, outcome, { rejected, total, notes }, CONTEXT))]
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return answerLines(receiver.reply(request, { kind: 'refused', failure: thrown }, undefined, CONTEXT))
  }
}

export function parsedLines({ batches: deliveries, rejected, idempotencyKey: identity }: ParsedBody): string[] {
  const lines = deliveries.flatMap(({ collection, dataset, attributes, events: arrivals }) => [
    `delivery ${JSON.stringify({ collection, dataset, ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) }) })}`,
    ...[...recordsOf(arrivals)].map(eventLine),
  ])
  return [...lines, ...rejected.map(({ index, reason }) => `rejected ${index} ${reason}`), ...(identity ? ['identity'] : [])]
}

function eventLine({ raw, time, level, keys, attributes }: ReceivedRecord): string {
  const shown = {
    raw: textOf(raw),
    time: time && new Date(time.ms).toISOString().replace('Z', `${String(time.ns).padStart(6, '0')}Z`),
    level,
    ...(keys.length > 0 && { keys: Object.fromEntries(keys) }),
    ...(attributes.length > 0 && { attributes: Object.fromEntries(attributes) }),
  }
  return `event ${JSON.stringify(shown)}`
}

/** Shows bytes as text, or as hex when they are not valid UTF-8. */
function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : `hex ${Buffer.from(bytes).toString('hex')}`
}

function answerLines({ status, headers, body }: ReceiverReply): string[] {
  const { 'content-type': contentType, ...others } = headers
  const names = Object.entries(others).map(([name, value]) => ` ${name}=${value}`)
  const isText = typeof body === 'string' || contentType?.includes('json')
  const shown = isText ? Buffer.from(body).toString('utf8') : `hex ${Buffer.from(body).toString('hex')}`
  return [`answer ${status} ${contentType}${names.join('')}`, shown]
}
