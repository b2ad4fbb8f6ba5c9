import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { encodeProtobuf } from '../../server/src/ingest/receivers/otlp/encode.fixture.ts'

/** A file of request bodies. Before each body stand its length and the number of its events, as two 32-bit numbers. */
export const FRAME_BYTES = 8
const BODY_EVENTS = 5_000

type JsonEvent = Record<string, string | number>

/** Writes the events of JSON lines as OTLP/HTTP bodies, and returns the bytes of the bodies. */
export async function writeOtlpFile(file: string, lines: Iterable<string>): Promise<{ bytes: number; lines: number }> {
  const out = createWriteStream(file)
  let bytes = 0
  let count = 0
  let records: unknown[] = []
  const flush = async () => {
    const body = encodeProtobuf('Logs', {
      resourceLogs: [
        {
          resource: { attributes: [attribute('service.namespace', 'shop')] },
          scopeLogs: [{ scope: { name: 'app' }, logRecords: records }],
        },
      ],
    })
    const frame = Buffer.alloc(FRAME_BYTES)
    frame.writeUInt32LE(body.length)
    frame.writeUInt32LE(records.length, 4)
    bytes += body.length
    count += records.length
    records = []
    if (!out.write(Buffer.concat([frame, body]))) await once(out, 'drain')
  }
  for (const line of lines) {
    records.push(recordOf(JSON.parse(line) as JsonEvent))
    if (records.length === BODY_EVENTS) await flush()
  }
  if (records.length > 0) await flush()
  await once(out.end(), 'close')
  return { bytes, lines: count }
}

function recordOf({ timestamp = 0, level = '', message = '', trace_id: traceId = '', ...others }: JsonEvent): unknown {
  return {
    timeUnixNano: `${timestamp}000000`,
    severityText: String(level),
    body: { stringValue: String(message) },
    traceId: String(traceId),
    attributes: Object.entries(others).map(([key, value]) => attribute(key, value)),
  }
}

const attribute = (key: string, value: string | number) => ({
  key,
  value:
    typeof value === 'string' ? { stringValue: value } : Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value },
})
