import type { Event } from '@dendro/api'

type Named = (id: string) => { collection: string; dataset: string } | undefined

export const KEYS_MAX = 200
const fixed = ['@time', '@timestamp', '@sequence', '@status', 'collection', 'dataset', 'log_id', '@raw'] as const

const keysOf = ({ message_kvs, attributes }: Event): Record<string, string> => ({ ...message_kvs, ...attributes })

const factsOf = (event: Event, nameOf: Named): Record<(typeof fixed)[number], string> => {
  const { timestamp, sequence, service_id } = event.metadata
  const { collection = '', dataset = '' } = nameOf(service_id) ?? {}
  return {
    '@time': event['@time'],
    '@timestamp': String(timestamp),
    '@sequence': String(sequence),
    '@status': event['@status'],
    collection,
    dataset,
    log_id: service_id,
    '@raw': event['@raw'] ?? '',
  }
}

/** ndjsonOf writes events as exports do: a line each, what the service knows of it before the values of the sender. */
export function ndjsonOf(events: readonly Event[], nameOf: Named): string {
  return events
    .map((event) => `${JSON.stringify({ ...keysOf(event), ...factsOf(event, nameOf), '@timestamp': event.metadata.timestamp })}\n`)
    .join('')
}

/** csvOf has a column for every key; what begins like a formula is quoted, so that no program that opens the file computes it. */
export function csvOf(events: readonly Event[], nameOf: Named): string {
  const keys = [...new Set(events.flatMap((event) => Object.keys(keysOf(event))))].sort().slice(0, KEYS_MAX)
  const rows = events.map((event) => {
    const own = keysOf(event)
    return [...Object.values(factsOf(event, nameOf)), ...keys.map((key) => own[key] ?? '')]
  })
  return [[...fixed, ...keys], ...rows].map((row) => `${row.map((cell) => quoted(harmless(cell))).join(',')}\r\n`).join('')
}

const harmless = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) && !fixed.some((name) => name === text) ? `'${text}` : text
const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
