import type { StoredEvent } from './stored-events.ts'
import { type LineRule, objectIn } from './wire.ts'

/** A recording with the events that it must give. */
export type SenderCase = LineRule & {
  recording: string
  /** The dataset that the protocol names. The test chooses the collection. */
  dataset: string
  reply: { status: number; body: string | RegExp }
  /** Where the name of the sending host is; undefined when the sender does not send it. */
  host: string | undefined
  /** Whose time counts: that of the recording, or the one in a JSON line. */
  time: 'recording' | 'line'
  /** False for a sender that drops the level of JSON lines. */
  hasLevel?: false
  /** The name of a field of a JSON line; undefined for a sender that drops the fields. */
  field: ((name: string) => string) | undefined
}

const asWritten = (name: string): string => name
const lineOf = ({ line }: StoredEvent): string => line
const jsonOf = ({ line }: StoredEvent): Record<string, unknown> => objectIn(line) ?? {}
const messageOnly = (line: string): unknown => objectIn(line)?.message ?? line

/** The text alone, or the object of a line that was JSON. */
const partsToLine = (message: unknown, level: unknown, fields: Record<string, unknown>): unknown =>
  Object.keys(fields).length === 0 ? message : { message, level, ...fields }

const pinoLevels: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' }
function pinoLine(event: StoredEvent): unknown {
  const { level, time, pid, msg, ...fields } = jsonOf(event)
  return partsToLine(msg, pinoLevels[Number(level)], fields)
}

/** The sender writes the fields behind the message. */
function winstonLine({ line }: StoredEvent): unknown {
  const at = line.indexOf(' {"')
  const { level, ...fields } = objectIn(line.slice(at)) ?? {}
  return partsToLine(line.slice(0, at), level, fields)
}

const NO_BODY = { status: 204, body: '' }

export const httpSenders: readonly SenderCase[] = [
  ...['fluent-bit-5.1.1-loki', 'fluent-bit-5.1.1-loki-gzip'].map(
    (recording): SenderCase => ({
      recording,
      dataset: 'app',
      reply: NO_BODY,
      host: '$host',
      time: 'recording',
      field: asWritten,
      textOf: (event) => jsonOf(event).log,
    }),
  ),
  {
    recording: 'promtail-3.6.15-loki-snappy',
    dataset: 'app',
    reply: NO_BODY,
    host: '$host',
    time: 'recording',
    field: asWritten,
    textOf: lineOf,
  },
  {
    recording: 'pino-loki-3.0.0-loki',
    dataset: 'app',
    reply: NO_BODY,
    host: '$hostname',
    time: 'recording',
    field: asWritten,
    textOf: pinoLine,
    moved: ['timestamp'],
  },
  {
    recording: 'winston-loki-6.1.7-loki-snappy',
    dataset: 'app',
    reply: NO_BODY,
    host: '$host',
    time: 'recording',
    field: asWritten,
    textOf: winstonLine,
    moved: ['timestamp'],
  },
  {
    recording: 'python-logging-loki-0.3.1-loki',
    dataset: 'app',
    reply: NO_BODY,
    host: '$host',
    time: 'recording',
    field: undefined,
    textOf: lineOf,
    sent: messageOnly,
  },
]
