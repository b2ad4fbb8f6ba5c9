import type { Event } from '@dendro/api'
import { fieldValueOf } from '../pinned/pinned-events.ts'

/** A ColumnFormat is how a column is shown unless the user resizes it. */
export type ColumnFormat = { px: number; isNumeric: boolean }

const SAMPLE_EVENTS = 100
const CHAR_PX = 7.3
const PADDING_PX = 10
const PX_MIN = 64
const PX_MAX = 320
const UNKNOWN_PX = 160
/** The sign of the menu after the name. */
const HEADER_CHARS = 2
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

/** Derives widths from the first events, so that rows loaded later move nothing, and aligns columns of numbers. */
export function columnFormats(names: readonly string[], events: readonly Event[]): ReadonlyMap<string, ColumnFormat> {
  const sample = events.slice(0, SAMPLE_EVENTS)
  return new Map(names.map((name) => [name, formatOf(name, sample)]))
}

function formatOf(name: string, sample: readonly Event[]): ColumnFormat {
  const values = sample.flatMap((event) => fieldValueOf(event, name) ?? [])
  if (values.length === 0) return { px: UNKNOWN_PX, isNumeric: false }
  const chars = Math.max(name.length + HEADER_CHARS, ...values.map((value) => value.length))
  const px = Math.round(Math.min(PX_MAX, Math.max(PX_MIN, chars * CHAR_PX + PADDING_PX)))
  return { px, isNumeric: values.every((value) => NUMBER.test(value)) }
}
