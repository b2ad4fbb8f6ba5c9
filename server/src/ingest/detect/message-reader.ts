import type { MessageReader } from '../../lines/message-parts.ts'
import { derivedLeaf } from '../../lines/text-line.ts'
import { OPEN_OBJECT } from '../../lines/walk.ts'
import { detect } from './detect.ts'
import { readJsonTail } from './json-bytes.ts'
import { jsonObject } from './message.ts'
import { readPlain } from './plain-bytes.ts'

const SPACE = 0x20

/** Reads the message of a JSON line: the keys of a JSON object, otherwise what `detect` finds in a line of text. */
export const messageReader: MessageReader = {
  part: (bytes, start, end) => {
    let [from, to] = [start, end]
    while (to > from && (bytes[to - 1] as number) <= SPACE) to -= 1
    while (from < to && (bytes[from] as number) <= SPACE) from += 1
    return bytes.subarray(from, to)
  },
  read: (part, at, found) => {
    if (part.length === 0) return 'nothing'
    if (part[0] === OPEN_OBJECT) {
      found.clear()
      const result = readJsonTail(part, 0, part.length, found)
      if (result === 'unknown') return result
      if (result === 'object') return found.count > 0 ? 'found' : 'nothing'
    }
    return readPlain(part, at, found)
  },
  detect: (message, at) => {
    const object = jsonObject(message)
    if (!object) return detect(message, at)
    if (object.length === 0) return undefined
    const leaves = object.map(([path, text]) => derivedLeaf(path, text))
    return { text: message, leaves, time: undefined, severity: undefined, wordsStart: 0 }
  },
}
