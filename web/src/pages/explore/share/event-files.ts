import type { Event } from '@dendro/api'

type DatasetLookup = (id: string) => { collection: string; dataset: string } | undefined

export const FIELDS_MAX = 200
const systemColumns = ['@time', '@timestamp', '@sequence', '@status', 'collection', 'dataset', 'log_id', '@raw'] as const

const fieldsOf = ({ message_kvs, attributes }: Event): Record<string, string> => ({ ...message_kvs, ...attributes })

const systemValues = (event: Event, datasetNames: DatasetLookup): Record<(typeof systemColumns)[number], string> => {
  const { timestamp, sequence, service_id } = event.metadata
  const { collection = '', dataset = '' } = datasetNames(service_id) ?? {}
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

/** Writes events in the format of exports: one line each; system fields win over fields of the sender. */
export function ndjsonOf(events: readonly Event[], datasetNames: DatasetLookup): string {
  return events
    .map(
      (event) =>
        `${JSON.stringify({ ...fieldsOf(event), ...systemValues(event, datasetNames), '@timestamp': event.metadata.timestamp })}\n`,
    )
    .join('')
}

/** csvOf has a column per field. Values that begin like a formula get a leading quote, so that spreadsheets do not evaluate them. */
export function csvOf(events: readonly Event[], datasetNames: DatasetLookup): string {
  const fields = [...new Set(events.flatMap((event) => Object.keys(fieldsOf(event))))].sort().slice(0, FIELDS_MAX)
  const rows = events.map((event) => {
    const own = fieldsOf(event)
    return [...Object.values(systemValues(event, datasetNames)), ...fields.map((key) => own[key] ?? '')]
  })
  return [[...systemColumns, ...fields], ...rows].map((row) => `${row.map((cell) => csvCell(withoutFormula(cell))).join(',')}\r\n`).join('')
}

const withoutFormula = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) && !systemColumns.some((name) => name === text) ? `'${text}` : text
const csvCell = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
