import type { LineTime } from '@dendro/api'
import { type Arrival, isAcceptable, ORIGINAL_TIME } from '../../lines/reference/event.ts'
import { OPEN_OBJECT } from '../../lines/reference/walk.ts'
import { readLineTime, TIME_WITHIN_CHARS } from '../../parsers/line-times.ts'
import { afterBlank } from './lines.ts'
import { messageOf } from './parsing.ts'

/**
 * Adds the time that a text line, or the message of a JSON line, tells where the dataset's setting says. It takes precedence over the protocol's
 * time. A time that is not acceptable is kept as an attribute, unless the protocol has a time.
 */
export function withLineTime(arrival: Arrival, bytes: Uint8Array, setting: LineTime): Arrival {
  const text = textOf(bytes)
  const found = text === undefined ? undefined : readLineTime(setting, text, arrival.at.ms)
  if (!found || text === undefined) return arrival
  const { ms, ns, start, end } = found
  if (isAcceptable(found, arrival.at)) return { ...arrival, time: { ms, ns } }
  if (arrival.time) return arrival
  return { ...arrival, attributes: [{ path: ORIGINAL_TIME, text: text.slice(start, end) }, ...arrival.attributes] }
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes[afterBlank(bytes, 0)] === OPEN_OBJECT) return messageOf(bytes).text?.slice(0, TIME_WITHIN_CHARS)
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, TIME_WITHIN_CHARS)).toString('latin1')
}
