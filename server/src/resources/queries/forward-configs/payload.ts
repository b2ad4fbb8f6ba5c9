import { promisify } from 'node:util'
import { gzip, zstdCompress } from 'node:zlib'
import type { ForwardConfig } from '@dendro/api'
import { arrivalOfSeq } from '../../../kernel/sequence-time.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { rawText } from '../../data/event-queries/event-queries.ts'
import { ndjsonLine } from '../exports/exports.ts'

/** The events of one dataset in a payload: as lines, or as rows of a format with columns. */
export type PayloadPart = {
  readonly logId: string
  readonly firstSeq: bigint
  readonly lines: string[]
  readonly rows: FoundEvent[]
  readonly numbers: bigint[]
}

/** The formats with a line for each event. */
type LineFormat = Exclude<ForwardConfig['format'], 'PARQUET'>

export const lineForms = {
  RAW: (event) => rawLine(rawText(event.raw)),
  NDJSON: (event, place) => ndjsonLine(event, place),
} satisfies Record<LineFormat, (event: FoundEvent, place: DatasetRow) => string>

/** An event with line breaks stays on one line: in JSON they are blanks between values, in other text they are written as \n. */
function rawLine(text: string): string {
  if (!/[\r\n]/.test(text)) return `${text}\n`
  const isJson = /^\s*[{[]/.test(text)
  return `${text.replaceAll(/\r\n|\r|\n/g, isJson ? ' ' : '\\n')}\n`
}

export const packers = {
  ZSTD: (text) => promisify(zstdCompress)(text),
  GZIP: (text) => promisify(gzip)(text),
  NONE: async (text) => Buffer.from(text),
} satisfies Record<ForwardConfig['compression'], (text: string) => Promise<Uint8Array>>

const endings = { ZSTD: '.log.zst', GZIP: '.log.gz', NONE: '.log' } satisfies Record<ForwardConfig['compression'], string>
/** The compression of Parquet is within the file, so the name does not have it. */
const PARQUET_ENDING = '.parquet'

type ObjectNaming = { readonly prefix: string; readonly template: string; readonly configId: string } & Pick<
  ForwardConfig,
  'format' | 'compression'
>

/** Names the object for the events of a dataset. Every name is used once, since every event has a number of its own. */
export function objectKey({ prefix, template, configId, format, compression }: ObjectNaming, firstSeq: bigint, place: DatasetRow): string {
  const arrival = new Date(arrivalOfSeq(firstSeq)).toISOString()
  const values = new Map([
    ['yyyy', arrival.slice(0, 4)],
    ['mm', arrival.slice(5, 7)],
    ['dd', arrival.slice(8, 10)],
    ['hh', arrival.slice(11, 13)],
    ['collection', nameInKey(place.collection)],
    ['dataset', nameInKey(place.dataset)],
  ])
  const folders = template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole)
  const file = `${nameInKey(place.dataset)}-${firstSeq}-${configId.slice(0, 8)}${format === 'PARQUET' ? PARQUET_ENDING : endings[compression]}`
  return [prefix, folders, file]
    .map((part) => part.replaceAll(/^\/+|\/+$/g, ''))
    .filter((part) => part !== '')
    .join('/')
}

/** The placeholders that a template may have. */
export const PLACEHOLDERS: ReadonlySet<string> = new Set(['yyyy', 'mm', 'dd', 'hh', 'collection', 'dataset'])

const NAME_LENGTH_MAX = 100

const nameInKey = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, NAME_LENGTH_MAX)
