import type { ForwardDestination } from '@dendro/api'
import { nextStep } from '../../../kernel/steps.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { type DestinationSecrets, openObjectTarget, openPostTarget, type PackedEvents } from './destinations.ts'
import type { ForwardedEvents, ForwardWorld, NumberRange } from './events.ts'
import { parquetObject, rowBytes } from './parquet-objects.ts'
import { lineForms, objectKey, type PayloadPart, packers } from './payload.ts'
import type { ForwardConfigRow } from './rows.ts'
import type { DeliveredCounts, PlannedPayload } from './state.ts'
import { messagesOf, sendMessages } from './topics.ts'

/** The largest payloads that are built in memory. */
const OBJECT_BYTES_MAX = 32_000_000
const POST_BYTES_MAX = 8_000_000
/** Rows need more memory than lines of the same size. */
const PARQUET_BYTES_MAX = 16_000_000
const LINES_AT_ONCE = 1_000

/** The events of a payload by dataset, and the number up to which it has all events of the range. */
export type BuiltPayload = {
  readonly to: bigint
  readonly events: number
  readonly bytes: number
  readonly datasets: ReadonlyMap<string, PayloadPart>
  /** Whether the range has events after it. */
  readonly isFull: boolean
}

type Shape = Pick<PlannedPayload, 'filter' | 'format' | 'compression'>
type Limits = { readonly bytes: number; readonly events: number }

export const shapeOf = ({ filter, format, compression }: ForwardConfigRow): Shape => ({ filter: filter ?? '', format, compression })

export const limitsOf = ({ destination, format, max_payload_size_bytes, max_payload_size_events }: ForwardConfigRow): Limits => ({
  bytes: Math.min(max_payload_size_bytes, bytesMaxOf(destination.destination_type, format)),
  events: max_payload_size_events,
})

function bytesMaxOf(destinationType: ForwardDestination['destination_type'], format: Shape['format']): number {
  if (destinationType !== 'S3') return POST_BYTES_MAX
  return format === 'PARQUET' ? PARQUET_BYTES_MAX : OBJECT_BYTES_MAX
}

/** Builds the next payload of a range, within limits. A single event may exceed them. */
export async function buildPayload(
  source: ForwardedEvents,
  range: NumberRange,
  { filter, format }: Shape,
  limits: Limits,
): Promise<BuiltPayload> {
  const datasets = new Map<string, PayloadPart>()
  let [events, bytes] = [0, 0]
  for await (const page of source.pages(range, filter)) {
    for (const [at, event] of page.events.entries()) {
      if (at % LINES_AT_ONCE === LINES_AT_ONCE - 1) await nextStep()
      const line = format === 'PARQUET' ? undefined : lineForms[format](event, placeOf(event, source))
      const eventBytes = line === undefined ? rowBytes(event) : Buffer.byteLength(line)
      if (events > 0 && (events + 1 > limits.events || bytes + eventBytes > limits.bytes)) {
        return { to: event.seq - 1n, events, bytes, datasets, isFull: true }
      }
      events += 1
      bytes += eventBytes
      const part = datasets.get(event.logId) ?? { logId: event.logId, firstSeq: event.seq, lines: [], rows: [], numbers: [] }
      datasets.set(event.logId, part)
      if (line === undefined) part.rows.push(event)
      else part.lines.push(line)
      part.numbers.push(event.seq)
    }
  }
  return { to: range.before - 1n, events, bytes, datasets, isFull: false }
}

function placeOf({ logId }: Pick<FoundEvent, 'logId'>, { datasets }: ForwardedEvents): DatasetRow {
  const place = datasets.get(logId)
  if (!place) throw new Error('the store returned an event of another dataset')
  return place
}

/** Fixes the range and the names of a payload before anything of it is sent. */
export function planPayload(config: ForwardConfigRow, source: ForwardedEvents, after: bigint, built: BuiltPayload): PlannedPayload {
  const { destination, format, compression } = config
  const objects =
    destination.destination_type !== 'S3'
      ? []
      : [...built.datasets.values()].flatMap(({ logId, firstSeq }) => {
          const place = source.datasets.get(logId)
          const naming = { prefix: destination.prefix ?? '', template: destination.path_template, configId: config.id, format, compression }
          return place ? [{ log_id: logId, key: objectKey(naming, firstSeq, place) }] : []
        })
  return { after: String(after), to: String(built.to), ...shapeOf(config), objects }
}

/** Sends a planned payload. A repeat replaces what an interrupted attempt has sent. */
export async function sendPayload(
  world: ForwardWorld,
  config: ForwardConfigRow,
  secrets: DestinationSecrets,
  { planned, built, source, signal }: { planned: PlannedPayload; built: BuiltPayload; source: ForwardedEvents; signal: AbortSignal },
): Promise<DeliveredCounts> {
  const { destination } = config
  if (destination.destination_type === 'S3') {
    const target = await openObjectTarget(world, destination, secrets, signal)
    try {
      for (const part of built.datasets.values()) {
        const key = planned.objects.find((one) => one.log_id === part.logId)?.key
        // The author did not see the dataset when the payload was planned.
        if (key === undefined) continue
        await target.put(key, await packPart(part, placeOf(part, source), planned))
      }
    } finally {
      target.close()
    }
  } else if (destination.destination_type === 'KAFKA') {
    const messages = messagesOf({ id: config.id, destination }, built.datasets, source.datasets)
    await sendMessages(world, destination, secrets, { messages, compression: planned.compression, signal })
  } else {
    const text = [...built.datasets.values()].map(({ lines }) => lines.join('')).join('')
    await openPostTarget(world, destination, secrets, signal).post(`${config.id}-${planned.after}-${planned.to}`, await pack(text, planned))
  }
  return { events: built.events, bytes: built.bytes, payloads: 1 }
}

async function packPart({ lines, rows }: PayloadPart, place: DatasetRow, planned: PlannedPayload): Promise<PackedEvents> {
  if (planned.format !== 'PARQUET') return pack(lines.join(''), planned)
  return { bytes: await parquetObject(rows, place, planned.compression), encoding: undefined, contentType: PARQUET_TYPE, isOwn: false }
}

const PARQUET_TYPE = 'application/vnd.apache.parquet'
const encodings = { ZSTD: 'zstd', GZIP: 'gzip', NONE: undefined } as const

async function pack(text: string, { format, compression }: Pick<PlannedPayload, 'format' | 'compression'>): Promise<PackedEvents> {
  const contentType = format === 'NDJSON' ? 'application/x-ndjson' : 'text/plain; charset=utf-8'
  return { bytes: await packers[compression](text), encoding: encodings[compression], contentType, isOwn: format === 'NDJSON' }
}
