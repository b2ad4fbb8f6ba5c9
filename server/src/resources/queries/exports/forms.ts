import { promisify } from 'node:util'
import { gzip, zstdCompress } from 'node:zlib'
import type { ExportCompression, ExportFormat } from '@dendro/api'
import { nextStep } from '../../../kernel/steps.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import type { ExportOptions, ExportWriter, FileSink } from './form.ts'
import { csvHeader, csvLine, type DatasetName, ndjsonLine } from './lines.ts'
import { parquetWriter } from './parquet.ts'

export const forms = {
  ndjson: (shape, sink) => textWriter(shape, sink, undefined, ndjsonLine),
  csv: (shape, sink) => textWriter(shape, sink, csvHeader(shape.keys), (event, place) => csvLine(event, place, shape.keys)),
  parquet: parquetWriter,
} satisfies Record<ExportFormat, (shape: ExportOptions, sink: FileSink) => ExportWriter>

/** The number of events after which the loop yields to other work. */
const EVENTS_AT_ONCE = 1_000

const packers: Record<ExportCompression, (text: string) => Promise<Uint8Array>> = {
  none: async (text) => Buffer.from(text),
  gzip: (text) => promisify(gzip)(text),
  zstd: (text) => promisify(zstdCompress)(text),
}

/** Writes lines. A compressed file is a sequence of compressed members, which decompressors read as one stream. */
function textWriter(
  { compression }: ExportOptions,
  sink: FileSink,
  header: string | undefined,
  lineOf: (event: FoundEvent, place: DatasetName) => string,
): ExportWriter {
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
        await nextStep()
      }
      return textBytes
    },
    cut: async () => undefined,
    end: async () => {
      // Even without events, a compressed file needs one (empty) member.
      if (sink.at() === 0) sink.write(await pack(''))
    },
  }
}
