import type { Arrival } from '../../lines/reference/event.ts'
import { readValues } from '../../lines/reference/reference.ts'
import type { Pair, ReceivedRecord } from '../batch.ts'
import { messageReader } from '../detect/message-reader.ts'
import { detectedIn, isObject } from '../intake/arrivals.ts'

/** An event as it was before an export or forwarding wrote it, and the dataset that it was in. */
export type OwnLine = { readonly record: ReceivedRecord; readonly collection: string | undefined; readonly dataset: string | undefined }

const OWN = Buffer.from('{"@time":"')
/** Members that the service has added. */
const ADDED: ReadonlySet<string> = new Set(['collection', 'dataset', 'log_id'])

/** Reads a line that an export or forwarding has written as NDJSON; undefined for another one. */
export function readOwnLine(line: Uint8Array): OwnLine | undefined {
  if (Buffer.compare(line.subarray(0, OWN.length), OWN) !== 0) return undefined
  const members = membersOf(line)
  if (!members) return undefined
  const { '@raw': raw, '@timestamp': ms, collection, dataset } = members
  if (typeof raw !== 'string' || typeof ms !== 'number' || !Number.isSafeInteger(ms)) return undefined
  const bytes = Buffer.from(raw)
  const texts = Object.entries(members).filter(isText)
  const fields = texts.filter(([name]) => !/^[@$]/.test(name) && !ADDED.has(name))
  return {
    record: {
      raw: bytes,
      time: { ms, ns: 0 },
      level: undefined,
      keys: fields.length === 0 ? [] : fieldsOutside(bytes, ms, fields),
      attributes: texts.filter(([name]) => name.startsWith('$')),
    },
    collection: nameOf(collection),
    dataset: nameOf(dataset),
  }
}

function membersOf(line: Uint8Array): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8'))
  } catch {
    return undefined
  }
}

/** The fields that the line does not give by itself: a protocol, a parser or a rule has set them. */
function fieldsOutside(line: Uint8Array, ms: number, fields: readonly Pair[]): readonly Pair[] {
  const arrival: Arrival = { at: { ms, ns: 0 }, origin: '', post: 0n, attributes: [] }
  const found = isObject(line) ? undefined : detectedIn(line, arrival.at)
  const { leaves } = readValues(line, arrival, { found, messages: messageReader })
  return fields.filter(([name, text]) => leaves.get(name) !== text)
}

const isText = (member: [string, unknown]): member is [string, string] => typeof member[1] === 'string'

const nameOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
