import { nextStep } from '../../../kernel/steps.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import { type DestinationSecrets, openObjectTarget, openPostTarget, type PackedLines } from './destinations.ts'
import type { ForwardedEvents, ForwardWorld, NumberRange } from './events.ts'
import { type DatasetLines, lineForms, objectKey, packers } from './payload.ts'
import type { ForwardConfigRow } from './rows.ts'
import type { DeliveredCounts, PlannedPayload } from './state.ts'

/** The largest payloads that are built in memory. */
const OBJECT_BYTES_MAX = 32_000_000
const POST_BYTES_MAX = 8_000_000
const LINES_AT_ONCE = 1_000

/** The lines of a payload by dataset, and the number up to which it has all events of the range. */
export type BuiltPayload = {
  readonly to: bigint
  readonly events: number
  readonly bytes: number
  readonly datasets: ReadonlyMap<string, DatasetLines>
  /** Whether the range has events after it. */
  readonly isFull: boolean
}

type Shape = Pick<PlannedPayload, 'filter' | 'format' | 'compression'>
type Limits = { readonly bytes: number; readonly events: number }

export const shapeOf = ({ filter, format, compression }: ForwardConfigRow): Shape => ({ filter: filter ?? '', format, compression })

export const limitsOf = ({ destination, max_payload_size_bytes, max_payload_size_events }: ForwardConfigRow): Limits => ({
  bytes: Math.min(max_payload_size_bytes, destination.destination_type === 'S3' ? OBJECT_BYTES_MAX : POST_BYTES_MAX),
  events: max_payload_size_events,
})

/** Builds the next payload of a range, within limits. A single event may exceed them. */
export async function buildPayload(
  source: ForwardedEvents,
  range: NumberRange,
  { filter, format }: Shape,
  limits: Limits,
): Promise<BuiltPayload> {
  const datasets = new Map<string, DatasetLines>()
  let [events, bytes] = [0, 0]
  for await (const page of source.pages(range, filter)) {
    for (const [at, event] of page.events.entries()) {
      if (at % LINES_AT_ONCE === LINES_AT_ONCE - 1) await nextStep()
      const line = lineOf(event, format, source)
      const lineBytes = Buffer.byteLength(line)
      if (events > 0 && (events + 1 > limits.events || bytes + lineBytes > limits.bytes)) {
        return { to: event.seq - 1n, events, bytes, datasets, isFull: true }
      }
      events += 1
      bytes += lineBytes
      const known = datasets.get(event.logId)
      if (known) known.lines.push(line)
      else datasets.set(event.logId, { logId: event.logId, firstSeq: event.seq, lines: [line] })
    }
  }
  return { to: range.before - 1n, events, bytes, datasets, isFull: false }
}

function lineOf(event: FoundEvent, format: Shape['format'], { datasets }: ForwardedEvents): string {
  const place = datasets.get(event.logId)
  if (!place) throw new Error('the store returned an event of another dataset')
  return lineForms[format](event, place)
}

/** Fixes the range and the names of a payload before anything of it is sent. */
export function planPayload(config: ForwardConfigRow, source: ForwardedEvents, after: bigint, built: BuiltPayload): PlannedPayload {
  const { destination, compression } = config
  const objects =
    destination.destination_type !== 'S3'
      ? []
      : [...built.datasets.values()].flatMap(({ logId, firstSeq }) => {
          const place = source.datasets.get(logId)
          const naming = { prefix: destination.prefix ?? '', template: destination.path_template, configId: config.id, compression }
          return place ? [{ log_id: logId, key: objectKey(naming, firstSeq, place) }] : []
        })
  return { after: String(after), to: String(built.to), ...shapeOf(config), objects }
}

/** Sends a planned payload. A repeat replaces what an interrupted attempt has sent. */
export async function sendPayload(
  world: ForwardWorld,
  config: ForwardConfigRow,
  secrets: DestinationSecrets,
  { planned, built, signal }: { planned: PlannedPayload; built: BuiltPayload; signal: AbortSignal },
): Promise<DeliveredCounts> {
  const { destination } = config
  if (destination.destination_type === 'S3') {
    const target = await openObjectTarget(world, destination, secrets, signal)
    try {
      for (const { logId, lines } of built.datasets.values()) {
        const key = planned.objects.find((one) => one.log_id === logId)?.key
        // The author did not see the dataset when the payload was planned.
        if (key === undefined) continue
        await target.put(key, await pack(lines.join(''), planned))
      }
    } finally {
      target.close()
    }
  } else {
    const text = [...built.datasets.values()].map(({ lines }) => lines.join('')).join('')
    await openPostTarget(world, destination, secrets, signal).post(`${config.id}-${planned.after}-${planned.to}`, await pack(text, planned))
  }
  return { events: built.events, bytes: built.bytes, payloads: 1 }
}

const encodings = { ZSTD: 'zstd', GZIP: 'gzip', NONE: undefined } as const

async function pack(text: string, { format, compression }: Pick<PlannedPayload, 'format' | 'compression'>): Promise<PackedLines> {
  const contentType = format === 'NDJSON' ? 'application/x-ndjson' : 'text/plain; charset=utf-8'
  return { bytes: await packers[compression](text), encoding: encodings[compression], contentType }
}
