import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip, zstdCompress } from 'node:zlib'
import type { ExportCompression, ExportFormat } from '@dendro/api'
import type { FoundEvent } from '../../../reading/event-query.ts'
import type { Form, Shape, Sink } from './form.ts'
import { csvHeader, csvLine, ndjsonLine, type Place } from './lines.ts'
import { parquetForm } from './parquet.ts'

export const forms = {
  ndjson: (shape, sink) => textForm(shape, sink, undefined, ndjsonLine),
  csv: (shape, sink) => textForm(shape, sink, csvHeader(shape.keys), (event, place) => csvLine(event, place, shape.keys)),
  parquet: parquetForm,
} satisfies Record<ExportFormat, (shape: Shape, sink: Sink) => Form>

/** EVENTS_AT_ONCE are made lines of before others have their turn. */
const EVENTS_AT_ONCE = 1_000

const packers: Record<ExportCompression, (text: string) => Promise<Uint8Array>> = {
  none: async (text) => Buffer.from(text),
  gzip: (text) => promisify(gzip)(text),
  zstd: (text) => promisify(zstdCompress)(text),
}

/** textForm writes lines; compressed files are many compressed pieces in a row, which every program reads as one. */
function textForm(
  { compression }: Shape,
  sink: Sink,
  header: string | undefined,
  lineOf: (event: FoundEvent, place: Place) => string,
): Form {
  const pack = packers[compression]
  return {
    add: async (events, place) => {
      if (header !== undefined && sink.at() === 0) sink.write(await pack(header))
      if (events.length === 0) return 0
      let textBytes = 0
      for (let at = 0; at < events.length; at += EVENTS_AT_ONCE) {
        let text = ''
        for (const event of events.slice(at, at + EVENTS_AT_ONCE)) text += lineOf(event, place)
        sink.write(await pack(text))
        textBytes += Buffer.byteLength(text)
        await setImmediate()
      }
      return textBytes
    },
    cut: async () => undefined,
    end: async () => {
      // A compressed file of nothing is no empty file.
      if (sink.at() === 0) sink.write(await pack(''))
    },
  }
}
