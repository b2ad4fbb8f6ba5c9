import type { StoredEvent } from '../support/stored-events.ts'
import { type LineRule, objectIn } from './wire.ts'
import type { MeaningRule } from './wire-meaning.ts'

/** A recording with the events that it must give. */
export type SenderCase = LineRule &
  MeaningRule & {
    recording: string
    /** The dataset that the protocol names. The test chooses the collection. */
    dataset: string
    reply: { status: number; body: string | RegExp }
    /** Where the name of the sending host is; undefined when the sender does not send it. */
    host: string | undefined
    /** Whose time counts: that of the recording, the one in a JSON line, or any that the library was given. */
    time: 'recording' | 'line' | 'given'
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

/** The sender writes the fields after the message. */
function winstonLine({ line }: StoredEvent): unknown {
  const at = line.indexOf(' {"')
  const { level, ...fields } = objectIn(line.slice(at)) ?? {}
  return partsToLine(line.slice(0, at), level, fields)
}

/** The record of a tail without a parser has the line in `log`; a parsed JSON line is the record itself. */
function recordLine(event: StoredEvent): unknown {
  const { date, log, ...fields } = objectIn(event.line) ?? { log: event.line }
  return log ?? fields
}

/** The library writes the message, text or object, next to its severity. */
const severityLine = (event: StoredEvent): unknown => jsonOf(event).message

/** The sender sends the line, and nothing changes it. */
const plain = { textOf: lineOf, field: asWritten, time: 'recording' } as const
const messageAlone = { textOf: lineOf, field: undefined, sent: messageOnly } as const

const loki = { dataset: 'app', reply: { status: 204, body: '' }, host: '$host', time: 'recording', field: asWritten } as const
const collector = {
  reply: { status: 200, body: '' },
  dataset: 'app',
  host: '$host.name',
  time: 'line',
  field: asWritten,
  skipsEmpty: true,
} as const
const hec = { dataset: 'app', reply: { status: 200, body: '{"text":"Success","code":0}' }, host: '$host' } as const
const bulk = { dataset: 'app', reply: { status: 200, body: /^\{"took":0,"errors":false,"items":\[.*\]\}$/ }, host: undefined } as const
const datadog = { dataset: 'app', reply: { status: 202, body: '{}' }, host: '$host.name', textOf: lineOf, field: asWritten } as const
const native = {
  dataset: 'default',
  reply: { status: 200, body: '{"accepted":120,"rejected":0}' },
  host: undefined,
  field: asWritten,
} as const

export const httpSenders: readonly SenderCase[] = [
  { recording: 'fluent-bit-5.1.1-loki', ...loki, textOf: recordLine },
  { recording: 'fluent-bit-5.1.1-loki-gzip', ...loki, textOf: recordLine },
  { recording: 'promtail-3.6.15-loki-snappy', ...loki, textOf: lineOf },
  { recording: 'pino-loki-3.0.0-loki', decidesLevel: true, ...loki, host: '$hostname', textOf: pinoLine, moved: ['timestamp'] },
  { recording: 'winston-loki-6.1.7-loki-snappy', decidesLevel: true, addsFields: true, ...loki, textOf: winstonLine, moved: ['timestamp'] },
  { recording: 'python-logging-loki-0.3.1-loki', decidesLevel: true, ...loki, ...messageAlone },
  { recording: 'fluent-bit-5.1.1-splunk-hec', ...hec, ...plain, textOf: recordLine },
  { recording: 'fluent-bit-5.1.1-splunk-hec-gzip', ...hec, time: 'line', textOf: recordLine, field: asWritten },
  { recording: 'otelcol-0.145.0-splunk-hec', ...hec, ...plain, time: 'line', skipsEmpty: true },
  { recording: 'splunk-handler-3.0.0-splunk-hec', ...hec, ...plain },
  {
    recording: 'splunk-logging-0.11.1-splunk-hec',
    decidesLevel: true,
    ...hec,
    time: 'given',
    textOf: severityLine,
    field: (name) => `message.${name}`,
  },
  { recording: 'syslog-ng-3.38.1-splunk-hec', ...hec, ...plain, textOf: severityLine, skipsEmpty: true },
  { recording: 'datadog-api-client-2.62.0-datadog', ...datadog, time: 'given' },
  { recording: 'fluent-bit-5.1.1-datadog', ...datadog, time: 'recording' },
  {
    recording: 'fluent-bit-5.1.1-newrelic',
    dataset: 'default',
    reply: { status: 202, body: /^\{"requestId":"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}"\}$/ },
    host: undefined,
    textOf: lineOf,
    time: 'recording',
    field: asWritten,
  },
  {
    recording: 'fluent-bit-5.1.1-logdna',
    dataset: 'app',
    reply: { status: 200, body: /^\{"status":"ok","batchID":"[\da-f]{32}"\}$/ },
    host: '$host.name',
    textOf: recordLine,
    time: 'recording',
    field: asWritten,
  },
  {
    recording: 'graypy-2.1.0-gelf-http',
    decidesLevel: true,
    hasHeader: true,
    dataset: 'app',
    reply: { status: 202, body: '' },
    host: '$host.name',
    time: 'recording',
    ...messageAlone,
    field: asWritten,
  },
  {
    recording: 'systemd-journal-upload-252.39-journald',
    decidesLevel: true,
    ...plain,
    dataset: 'app',
    reply: { status: 202, body: 'OK.\n' },
    host: '$host.name',
  },
  { recording: 'fluent-bit-5.1.1-es-bulk', ...bulk, ...plain, textOf: recordLine },
  { recording: 'fluent-bit-5.1.1-opensearch-bulk', ...bulk, ...plain, textOf: recordLine },
  { recording: 'fluent-bit-5.1.1-es-bulk-parsed', ...bulk, ...messageAlone, time: 'line', textOf: recordLine, field: asWritten },
  { recording: 'rsyslog-8.2302.0-es-bulk', ...bulk, ...plain, host: 'host', skipsEmpty: true },
  { recording: 'syslog-ng-3.38.1-es-bulk', ...bulk, ...plain, host: 'HOST', skipsEmpty: true },
  { recording: 'fluent-bit-5.1.1-otlp-http', ...collector, ...plain, dataset: 'default', host: undefined, skipsEmpty: undefined },
  {
    recording: 'fluent-bit-5.1.1-otlp-http-gzip',
    ...collector,
    ...messageAlone,
    dataset: 'default',
    host: undefined,
    hasLevel: false,
    skipsEmpty: undefined,
  },
  { recording: 'otelcol-0.145.0-otlp-http', ...collector, textOf: lineOf },
  { recording: 'otelcol-0.145.0-otlp-http-gzip', ...collector, textOf: lineOf },
  { recording: 'otelcol-0.145.0-otlp-http-zstd', ...collector, textOf: lineOf },
  { recording: 'otelcol-0.145.0-otlp-http-json', ...collector, reply: { status: 200, body: '{}' }, textOf: lineOf },
  { recording: 'fluent-bit-5.1.1-http-jsonlines', ...native, time: 'recording', textOf: recordLine },
  { recording: 'fluent-bit-5.1.1-http-json-gzip', ...native, time: 'line', textOf: recordLine },
]
