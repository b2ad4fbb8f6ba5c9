import { readTime } from '../../../lines/values/time-text.ts'
import { afterBlank, endOfLine, lineWithin, searchable } from '../../intake/lines.ts'

/** A line of a container runtime that goes on in another one of the same stream. */
type Open = { at: number; timeMs: number }
type Line = { stream: string; timeMs: number; isPartial: boolean; textStart: number; textEnd: number; isJson: boolean }

const marks = [' stdout P ', ' stderr P ', '","stream":"std'].map((mark) => Buffer.from(mark))
/** The time within which the parts of a line follow one another. */
const PARTS_MS = 5_000
/** The header `<time> <stream> <full or partial> `, and the ends of a record of the other format. */
const HEADER = /^(\S{20,40}) (stdout|stderr) ([FP])(?:\S*) /
const HEADER_CHARS = 80
const RECORD_START = '{"log":"'
const RECORD_END = /","stream":"(stdout|stderr)"(?:,"attrs":\{[^{}]*\})?,"time":"([^"]{20,40})"\}$/
const RECORD_END_CHARS = 1_024

/**
 * Joins lines that a container runtime wrote in parts: those of one stream that follow one another within 5 seconds. The first line tells whether a
 * body has such lines, since a search for their marks would take a tenth of the time of all else.
 */
export function joinContainerLines(body: Uint8Array): Uint8Array {
  const found = searchable(body)
  const first = afterBlank(body, 0)
  if (!containerLine(searchable(lineWithin(found, first, endOfLine(found, first)))) || !marks.some((mark) => found.includes(mark)))
    return body
  const lines: Buffer[] = []
  const open = new Map<string, Open>()
  let isChanged = false
  for (let start = 0; start < found.length; ) {
    const end = endOfLine(found, start)
    const bytes = searchable(lineWithin(found, start, end))
    start = end + 1
    const line = containerLine(bytes)
    const before = line && open.get(keyOf(line))
    if (line && before && line.timeMs - before.timeMs <= PARTS_MS) {
      lines[before.at] = joined(lines[before.at] ?? bytes, bytes, line)
      isChanged = true
      if (!line.isPartial) open.delete(keyOf(line))
      continue
    }
    if (line?.isPartial) open.set(keyOf(line), { at: lines.length, timeMs: line.timeMs })
    lines.push(bytes)
  }
  return isChanged ? Buffer.concat(lines.flatMap((line) => [line, LINE_END])) : body
}

const LINE_END = Buffer.from('\n')
const keyOf = ({ stream, isJson }: Line): string => `${stream} ${isJson}`

function containerLine(bytes: Buffer): Line | undefined {
  return bytes.toString('latin1', 0, RECORD_START.length) === RECORD_START ? recordLine(bytes) : headedLine(bytes)
}

function headedLine(bytes: Buffer): Line | undefined {
  const match = HEADER.exec(bytes.toString('latin1', 0, HEADER_CHARS))
  const timeMs = readTime(match?.[1] ?? '')?.instant?.ms
  if (!match || timeMs === undefined) return undefined
  const [whole, , stream = '', flag] = match
  return { stream, timeMs, isPartial: flag === 'P', textStart: whole.length, textEnd: bytes.length, isJson: false }
}

/** A record `{"log":"text\n","stream":"stdout","time":"…"}`, whose text ends with a line end in its last part. */
function recordLine(bytes: Buffer): Line | undefined {
  const tailStart = Math.max(0, bytes.length - RECORD_END_CHARS)
  const match = RECORD_END.exec(bytes.toString('latin1', tailStart))
  const timeMs = readTime(match?.[2] ?? '')?.instant?.ms
  if (!match || timeMs === undefined) return undefined
  const textEnd = tailStart + match.index
  const isPartial = bytes.toString('latin1', textEnd - 2, textEnd) !== '\\n'
  return { stream: match[1] ?? '', timeMs, isPartial, textStart: RECORD_START.length, textEnd, isJson: true }
}

/** The first part with the text of the next one after its own. The flag is that of the next one. */
function joined(first: Buffer, next: Buffer, { textStart, textEnd, isPartial, isJson }: Line): Buffer {
  const text = next.subarray(textStart, textEnd)
  const head = containerLine(first)
  if (!head) return first
  const before = first.subarray(0, head.textEnd)
  if (isJson) return Buffer.concat([before, text, first.subarray(head.textEnd)])
  const whole = Buffer.concat([before, text])
  if (!isPartial) whole[whole.indexOf(` ${head.stream} P`) + head.stream.length + 2] = 'F'.charCodeAt(0)
  return whole
}
