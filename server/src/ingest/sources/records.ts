import { BrokenContent } from './content.ts'

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, QUOTE, BACKSLASH] = [0x7b, 0x7d, 0x5b, 0x5d, 0x22, 0x5c]
const [LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x0a, 0x0d, 0x20]
const DEPTH_MAX = 1_000

/**
 * Writes each object in an array of a JSON text as a line, where the array is the whole text or a member of an object that is: `[{…}, {…}]` or
 * `{"Records": [{…}, {…}]}`. The same text gives the same lines, however it is cut into parts.
 */
export async function* linesOfRecords(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const open: number[] = []
  /** The number of open brackets around the record that is being written; -1 outside of records. */
  let around = -1
  let [isText, isEscaped, isAny, isFilled] = [false, false, false, false]
  for await (const part of parts) {
    const out = Buffer.allocUnsafe(part.length * 2)
    let length = 0
    for (const byte of part) {
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isText = false
      } else if (byte === QUOTE) isText = true
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (around < 0 && byte === OPEN_OBJECT && isList(open)) around = open.length
        open.push(byte)
        if (open.length > DEPTH_MAX) throw new BrokenContent(`its JSON is deeper than ${DEPTH_MAX} levels`)
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (open.pop() !== (byte === CLOSE_OBJECT ? OPEN_OBJECT : OPEN_ARRAY)) throw new BrokenContent('it is not valid JSON')
      }
      if (byte > SPACE) isFilled = true
      if (around < 0) continue
      // Line ends between tokens are blanks; within texts JSON has none.
      out[length] = byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte
      length += 1
      if (open.length > around || isText) continue
      out[length] = LINE_FEED
      length += 1
      around = -1
      isAny = true
    }
    if (length > 0) yield out.subarray(0, length)
  }
  if (around >= 0 || open.length > 0) throw new BrokenContent('its JSON ends early')
  if (isFilled && !isAny) throw new BrokenContent('it has no list of JSON objects')
}

const isList = (open: readonly number[]): boolean =>
  open.at(-1) === OPEN_ARRAY && (open.length === 1 || (open.length === 2 && open[0] === OPEN_OBJECT))
