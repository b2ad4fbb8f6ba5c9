import type { Zone } from '@dendro/language/typed-range'
import { colorOfLevel, type Paint } from './colors.ts'
import { placeName } from './dataset-names.ts'
import { cutTo, escapeControls } from './escape.ts'
import { columnOf, type EventRecord, levelOf, messageOf, refOf } from './event-record.ts'

export type LineStyle = {
  paint: Paint
  zone: Zone
  /** Shows the name of the dataset. */
  withDataset: boolean
  /** Shows the reference of the event. */
  withRef: boolean
  /** Shows these fields instead of all. */
  fields: readonly string[] | undefined
  raw: boolean
}

const LEVEL_CHARS = 5
const FIELD_CHARS_MAX = 400

/** One event on one line: time, level, dataset, message, fields. Control characters are escaped. */
export function lineOf(record: EventRecord, { paint, zone, withDataset, withRef, fields, raw }: LineStyle): string {
  const level = levelOf(record)
  if (raw) return paint(colorOfLevel(level), escapeControls(String(record['@raw'] ?? '')))
  const { message, pairs } = messageOf(record)
  const shownPairs = fields
    ? fields.map((name): [string, string] => [name, columnOf(record, name)]).filter(([, value]) => value !== '')
    : pairs
  const parts = [
    paint('gray', timeText(record['@timestamp'], zone)),
    paint(colorOfLevel(level), escapeControls(level.slice(0, 9)).padEnd(LEVEL_CHARS)),
    ...(withDataset ? [paint('cyan', escapeControls(placeName(record)))] : []),
    ...(withRef ? [paint('gray', escapeControls(refOf(record)))] : []),
    ...(message === '' ? [] : [escapeControls(message.trimEnd())]),
    ...shownPairs.map(([name, value]) => `${paint('gray', `${escapeControls(name)}=`)}${fieldText(value)}`),
  ]
  return parts.join(' ')
}

const fieldText = (value: string): string => {
  const text = cutTo(escapeControls(value), FIELD_CHARS_MAX)
  return /[\s"=]/.test(text) ? JSON.stringify(text).replaceAll('\\\\u', '\\u') : text
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0')

/** A time to the millisecond, in UTC or in the zone of this machine. */
export function timeText(ms: number, zone: Zone): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return String(ms)
  if (zone === 'utc') return date.toISOString().replace('T', ' ')
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part)).join(':')
  return `${day} ${clock}.${pad(date.getMilliseconds(), 3)}`
}
