import type { StoredEvent } from '../support/stored-events.ts'
import { type LineRule, objectIn } from './wire.ts'
import type { MeaningRule } from './wire-meaning.ts'

/** A recording of a sender on a socket, with the events that it must give. */
export type SocketCase = LineRule &
  MeaningRule & {
    recording: string
    /** The protocol and transport of the listener. */
    listener: string
    dataset: string
    /** The key with the name of the sending host; undefined when the sender does not send it. */
    host: string | undefined
    /** Whose time counts: that of the recording, the one in a JSON line, or one that the sender was given. */
    time: 'recording' | 'line' | 'given'
    /** The name of a field of a JSON line; undefined for a sender that drops or renames the fields. */
    field?: ((name: string) => string) | undefined
    /** Lines that the sender did not wrap. Their own header decides about host, dataset and time. */
    isOwn?: (line: string) => boolean
    /** Further events that the sender made. */
    strange?: readonly string[]
  }

const asWritten = (name: string): string => name
const lineOf = ({ line }: StoredEvent): string => line
/** The text after the header. */
const messageOf = ({ keys, line }: StoredEvent): string => keys.message ?? line

/** A sender of objects: the message is the line, and the other members are keys. */
const messageOnly = (line: string): unknown => objectIn(line)?.message ?? line
/** Fluent Bit sends lines that begin with a bracket as they are, and cuts long ones. */
const isSyslog = (line: string): boolean => /^<(?:\d+>(?:Mar|1 2026-03)|b>)/.test(line)
const ownLines: Partial<SocketCase> = {
  isOwn: isSyslog,
  textOf: (event) => (isSyslog(event.line) ? event.line : messageOf(event)),
  skipsEmpty: undefined,
  bytesMax: 900,
}

const syslog = (recording: string, listener: string, more: Partial<SocketCase> = {}): SocketCase => ({
  hasHeader: true,
  recording,
  listener,
  dataset: 'app',
  host: 'hostname',
  time: 'recording',
  textOf: messageOf,
  skipsEmpty: true,
  field: asWritten,
  ...more,
})
const gelf = (recording: string, listener: string, more: Partial<SocketCase> = {}): SocketCase => ({
  decidesLevel: true,
  hasHeader: true,
  recording,
  listener,
  dataset: 'app',
  host: '$host.name',
  time: 'recording',
  textOf: lineOf,
  sent: messageOnly,
  field: asWritten,
  ...more,
})
const forward = (recording: string, more: Partial<SocketCase> = {}): SocketCase => ({
  recording,
  listener: 'forward+tcp',
  dataset: 'app.log',
  host: undefined,
  time: 'recording',
  textOf: lineOf,
  field: asWritten,
  ...more,
})
const otlp = (recording: string, more: Partial<SocketCase> = {}): SocketCase => ({
  recording,
  listener: 'otlp-grpc+tcp',
  dataset: 'app',
  host: '$host.name',
  time: 'recording',
  textOf: lineOf,
  field: asWritten,
  ...more,
})
const objects: Partial<SocketCase> = { sent: messageOnly, time: 'line' }

/** The last message of the recording is no line. */
const TRACEBACK = `Traceback (most recent call last):

  File "/srv/app/app.py", line 19, in exc
    try: {}['missing']
         ~~^^^^^^^^^^^

KeyError: 'missing'`

export const socketSenders: readonly SocketCase[] = [
  syslog('rsyslog-8.2302.0-syslog-rfc3164-tcp', 'syslog+tcp'),
  syslog('rsyslog-8.2302.0-syslog-rfc5424-tcp-octet', 'syslog+tcp'),
  syslog('rsyslog-8.2302.0-syslog-rfc3164-udp', 'syslog+udp'),
  syslog('rsyslog-8.2302.0-relp', 'relp+tcp'),
  syslog('syslog-ng-3.38.1-syslog-rfc5424-tcp-octet', 'syslog+tcp'),
  syslog('syslog-ng-3.38.1-syslog-rfc3164-udp', 'syslog+udp'),
  syslog('otelcol-0.145.0-syslog-rfc5424-tcp', 'syslog+tcp'),
  syslog('otelcol-0.145.0-syslog-rfc3164-udp', 'syslog+udp'),
  syslog('fluent-bit-5.1.1-syslog-rfc5424-tcp', 'syslog+tcp', ownLines),
  syslog('fluent-bit-5.1.1-syslog-rfc3164-udp', 'syslog+udp', ownLines),
  gelf('fluent-bit-5.1.1-gelf-tcp', 'gelf+tcp', { dataset: 'host-a', sent: asWritten }),
  gelf('fluent-bit-5.1.1-gelf-udp', 'gelf+udp', { dataset: 'host-a', sent: asWritten }),
  gelf('syslog-ng-3.38.1-gelf-tcp', 'gelf+tcp', { sent: asWritten, skipsEmpty: true }),
  gelf('graypy-2.1.0-gelf-tcp', 'gelf+tcp'),
  gelf('graypy-2.1.0-gelf-udp', 'gelf+udp', { strange: [TRACEBACK] }),
  gelf('gelf-pro-1.4.0-gelf-udp', 'gelf+udp', { field: undefined, host: undefined }),
  gelf('graygelf-2.0.0-gelf-udp', 'gelf+udp', { sent: asWritten }),
  forward('fluent-bit-5.1.1-forward'),
  forward('fluent-bit-5.1.1-forward-v1'),
  forward('fluent-bit-5.1.1-forward-gzip'),
  forward('fluent-bit-5.1.1-forward-sharedkey'),
  forward('fluent-bit-5.1.1-forward-parsed', objects),
  forward('fluent-logger-node-3.4.1-forward', { ...objects, time: 'given', dataset: 'app.line' }),
  forward('fluent-logger-node-3.4.1-forward-ack', { ...objects, time: 'given', dataset: 'app.line' }),
  forward('fluent-logger-python-0.11.1-forward', { ...objects, time: 'recording', dataset: 'app.line' }),
  otlp('otelcol-0.145.0-otlp-grpc', { time: 'line', skipsEmpty: true }),
  otlp('otelcol-0.145.0-otlp-grpc-gzip', { time: 'line', skipsEmpty: true }),
  otlp('fluent-bit-5.1.1-otlp-grpc', { dataset: 'default', host: undefined }),
]
