import { fromText, isUuid } from '@dendro/api'
import { UsageError } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** The place of an event. */
export type EventReference = { logId: string; timestamp: number; sequence: bigint | undefined }

export const REF_HELP = 'the event: a reference (from --refs), its context URL, or - for a line of NDJSON on standard input'

/** Parses a reference, a context URL, or an event as `dendro search --output ndjson` prints it. */
export async function readEventRef(word: string, terminal: Terminal): Promise<EventReference> {
  if (word === '-') return refOfLine((await terminal.readInput()).split('\n', 1)[0] ?? '')
  if (/^https?:/.test(word) && URL.canParse(word)) {
    const query = new URL(word).searchParams
    return checked(word, [
      query.get('from') ?? query.get('logId') ?? '',
      query.get('timestamp') ?? '',
      query.get('sequence') ?? query.get('from_sequence') ?? '',
    ])
  }
  const [logId = '', timestamp = '', sequence = '', ...rest] = word.split('/')
  if (rest.length > 0) throw badRef(word)
  return checked(word, [logId, timestamp, sequence])
}

function refOfLine(line: string): EventReference {
  const event = eventOf(line)
  const missing = EVENT_MEMBERS.find((name) => event[name] === undefined)
  if (missing !== undefined) throw new UsageError(`the event on standard input has no ${missing}; dendro search --output ndjson prints it`)
  const [logId = '', timestamp = '', sequence = ''] = EVENT_MEMBERS.map((name) => String(event[name]))
  return checked([logId, timestamp, sequence].join('/'), [logId, timestamp, sequence])
}

const EVENT_MEMBERS = ['log_id', '@timestamp', '@sequence'] as const

function eventOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const event = fromText(line)
    if (typeof event === 'object' && event !== null) return event as Readonly<Record<string, unknown>>
  } catch {
    // The message below is about this too.
  }
  throw new UsageError('standard input has no line of JSON')
}

function checked(given: string, [logId, timestamp, sequence]: [string, string, string]): EventReference {
  if (!isUuid(logId) || !/^\d{1,16}$/.test(timestamp) || !/^\d{0,19}$/.test(sequence)) throw badRef(given)
  return { logId, timestamp: Number(timestamp), sequence: sequence === '' ? undefined : BigInt(sequence) }
}

const badRef = (word: string): UsageError =>
  new UsageError(`'${word}' is not a reference of an event: <dataset id>/<epoch milliseconds>/<sequence>, as --refs prints it`)
