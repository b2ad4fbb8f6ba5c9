import { DENDRO_EVENTS } from '../../../http/dendro-events.ts'
import { failureBody } from '../../../http/failure-body.ts'
import { badRequest } from '../../../kernel/errors.ts'
import {
  type IngestOutcome,
  type IngestRequest,
  type IngestRequestHead,
  type ParsedBody,
  type ReceivedRecord,
  type Receiver,
  type ReceiverReply,
  recordOfLine,
} from '../../batch.ts'
import type { RecordRoute } from '../batches.ts'
import { describesSource } from '../source-attributes.ts'
import { keyOf, linesByService, serviceRouteOf } from './by-service.ts'
import { joinContainerLines } from './container-lines.ts'
import { forwardedEvents } from './forwarded.ts'
import { checkLineCount, isLines, isUploadCheck, splitObjects } from './objects.ts'
import { readPacked } from './packed.ts'

const MIB = 2 ** 20

/** Accepts JSON lines, concatenated objects, an array, lines of text, or maps of MessagePack. */
export const native: Receiver = {
  name: 'native',
  routes: [
    { methods: ['POST'], tail: /\/ingest$/ },
    { methods: ['POST'], tail: /\/ingest\/[^/]+\/[^/]+$/ },
    { methods: ['POST'], tail: /^\/$/ },
  ],
  limits: { wireBytes: 10 * MIB, bodyBytes: 10 * MIB },
  parse,
  isLabel: describesSource,
  reply: answer,
}

function parse(request: IngestRequest): ParsedBody {
  const type = request.contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^application\/(x-)?msgpack$/.test(type)) return recordsOf(request, readPacked(request.body))
  const bytes = joinContainerLines(asUtf8(request.body, request.contentType))
  if (isUploadCheck(bytes)) return { batches: [], rejected: [], total: 0 }
  const place = routeOfPath(request.path)
  if (request.headers[DENDRO_EVENTS] === 'ndjson') return forwardedEvents(bytes, place)
  const isJson = type === '' || /^application\/(x-ndjson|json|jsonl|json-lines|jsonlines|x-jsonlines|[\w.-]+\+json)$/.test(type)
  if (!isJson) checkLineCount(bytes)
  if (!isJson || isLines(bytes)) {
    const parts = place.dataset === undefined ? linesByService(bytes) : undefined
    const batches = parts ?? [{ route: place, bytes }]
    return {
      batches: batches.map((part) => ({ ...part.route, attributes: [], events: { kind: 'lines', bytes: part.bytes } })),
      rejected: [],
      total: 0,
    }
  }
  return recordsOf(request, splitObjects(bytes).map(recordOfLine))
}

function recordsOf({ path }: IngestRequest, records: readonly ReceivedRecord[]): ParsedBody {
  const place = routeOfPath(path)
  const parts = new Map<string, { route: RecordRoute; records: ReceivedRecord[] }>()
  for (const record of records) {
    const route = place.dataset === undefined ? serviceRouteOf(record.raw) : place
    const key = keyOf(route)
    const part = parts.get(key)
    if (part) part.records.push(record)
    else parts.set(key, { route, records: [record] })
  }
  return {
    batches: [...parts.values()].map((part) => ({ ...part.route, attributes: [], events: { kind: 'records', records: part.records } })),
    rejected: [],
    total: records.length,
  }
}

/** Reads `/ingest/<collection>/<dataset>`. */
function routeOfPath(path: string): RecordRoute {
  const [, collection, dataset] = /\/ingest\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  return { collection: collection && decoded(collection), dataset: dataset && decoded(dataset) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw badRequest('the path is not valid percent-encoded text', { cause })
  }
}

/** Removes a byte order mark, and converts UTF-16, which Windows programs often write, to UTF-8. */
function asUtf8(bytes: Uint8Array, contentType: string): Uint8Array {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3)
  const encoding = utf16Of(bytes, contentType)
  if (!encoding) return bytes
  try {
    return new TextEncoder().encode(new TextDecoder(encoding, { fatal: true }).decode(bytes))
  } catch (cause) {
    throw badRequest(`the body is not valid ${encoding.toUpperCase()}`, { cause })
  }
}

function utf16Of(bytes: Uint8Array, contentType: string): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const charset = /;\s*charset\s*=\s*"?(utf-?16(?:le|be)?)\b/i.exec(contentType)?.[1]?.toLowerCase()
  return charset === undefined ? undefined : charset.endsWith('be') ? 'utf-16be' : 'utf-16le'
}

function answer(request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  if (outcome.kind === 'refused') {
    const body = failureBody(outcome.failure, request.headers['x-correlation-id'] ?? '')
    return { status: outcome.failure.status, headers: { ...outcome.failure.headers, ...headers }, body: JSON.stringify(body) }
  }
  const { accepted, rejected, duplicates } = outcome
  return {
    status: 200,
    headers,
    body: JSON.stringify({ accepted, rejected: rejected.length, ...(duplicates.length > 0 ? { duplicates: duplicates.length } : {}) }),
  }
}
