import type { BodyText } from '../body-text.ts'
import { type JsonReader, QUOTE } from './reader.ts'
import { unescapeToText } from './unescape.ts'

/** Reads the next value of any kind as text: strings decoded, other values as written. */
export function readText(reader: JsonReader, text: BodyText): string {
  const isString = reader.peek() === QUOTE
  if (isString) reader.string()
  else reader.skip()
  const { bytes, start, stop, escaped } = reader
  return isString && escaped ? unescapeToText(bytes.subarray(start, stop)) : text.text(start, stop)
}
