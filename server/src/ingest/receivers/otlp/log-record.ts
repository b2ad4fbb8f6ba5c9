import type { RecordDraft } from '../../../lines/shredder/record-table.ts'
import type { Instant } from '../../../lines/values/time-text.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { textAttribute, toJson, toPairs } from './attributes.ts'
import {
  type Attribute,
  addAttribute,
  body,
  EMPTY,
  instant,
  type Message,
  message,
  nanoText,
  number,
  type OtlpBody,
  set,
  spanId,
  text,
  traceId,
} from './message.ts'

export type OtlpLogRecord = {
  time: Instant | undefined
  observed: Instant | undefined
  severityNumber: number
  severityText: string
  body: OtlpBody | undefined
  attributes: Attribute[]
  dropped: number
  flags: number
  traceId: string
  spanId: string
  eventName: string
}

export const newLogRecord = (): OtlpLogRecord => ({
  time: undefined,
  observed: undefined,
  severityNumber: 0,
  severityText: '',
  body: undefined,
  attributes: [],
  dropped: 0,
  flags: 0,
  traceId: '',
  spanId: '',
  eventName: '',
})

export const logRecord: Message<OtlpLogRecord> = message<OtlpLogRecord>([
  [1, 'timeUnixNano', set('time', instant)],
  [2, 'severityNumber', set('severityNumber', number)],
  [3, 'severityText', set('severityText', text)],
  [5, 'body', set('body', body)],
  [6, 'attributes', addAttribute],
  [7, 'droppedAttributesCount', set('dropped', number)],
  [8, 'flags', set('flags', number)],
  [9, 'traceId', set('traceId', traceId)],
  [10, 'spanId', set('spanId', spanId)],
  [11, 'observedTimeUnixNano', set('observed', instant)],
  [12, 'eventName', set('eventName', text)],
])

/** Four severity numbers share one name. */
const severityNames = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']
export const severityName = (number: number): string | undefined => (number > 0 ? severityNames[(number - 1) >> 2] : undefined)

/** Sets the level of a draft from the name of the severity number and the position of the severity text; equal positions for none. */
export function setLevel(draft: RecordDraft, name: string | undefined, start: number, end: number): void {
  const { keys, memory } = draft
  const key = keys.has(LEVEL) ? 'severity_text' : LEVEL
  if (end > start) keys.add(key, start, end)
  else if (name !== undefined) keys.place(key, memory.putAscii(name), memory.end)
  draft.setLevel(name ?? (end > start ? memory.text(start, end) : undefined))
}
const LEVEL = 'level'

/**
 * Turns a record into an event. Its line is the body; a record without one is written as JSON with its attributes. The severity number
 * takes precedence over the severity text, which may be any word and stays the key `level`.
 */
export function logToRecord(record: OtlpLogRecord): ReceivedRecord {
  const name = severityName(record.severityNumber)
  const word = record.severityText || name
  const hasBody = record.body !== undefined && record.body.kind !== EMPTY && record.body.bytes.length > 0
  const keys: Pair[] = []
  const dropped = record.dropped + (hasBody ? toPairs(record.attributes, '', keys) : 0)
  if (word) keys.push([record.attributes.some((attribute) => attribute.name === LEVEL) ? 'severity_text' : LEVEL, word])
  if (hasBody && record.eventName) keys.push(['event_name', record.eventName])
  if (record.traceId) keys.push(['trace_id', record.traceId])
  if (record.spanId) keys.push(['span_id', record.spanId])
  const attributes: Pair[] = []
  if (record.observed) attributes.push(['$otel.observed_time', nanoText(record.observed)])
  if (record.flags > 0) attributes.push(['$otel.flags', String(record.flags)])
  if (dropped > 0) attributes.push(['$otel.dropped_attributes', String(dropped)])
  const raw = hasBody && record.body ? record.body.bytes : isEmptyLine(record) ? new Uint8Array() : Buffer.from(bodiless(record))
  return { raw, time: record.time ?? record.observed, level: name ?? word, keys, attributes }
}

/** True for a record whose body is there but empty, and that says nothing else: an empty line of a file. */
const isEmptyLine = ({ body: found, eventName, attributes }: OtlpLogRecord): boolean =>
  found !== undefined && eventName === '' && attributes.length === 0

function bodiless({ eventName, attributes }: OtlpLogRecord): string {
  return toJson(eventName ? [textAttribute('event_name', eventName), ...attributes] : attributes)
}
