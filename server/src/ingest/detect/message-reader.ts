import type { MessageReader } from '../../lines/reference/reference.ts'
import { derivedLeaf } from '../../lines/reference/text-line.ts'
import { detect } from './detect.ts'
import { jsonObject } from './message.ts'

/** Reads the message of a JSON line: the keys of a JSON object, otherwise what `detect` finds in a line of text. */
export const messageReader: MessageReader = {
  detect: (message, at) => {
    const object = jsonObject(message)
    if (!object) return detect(message, at)
    if (object.length === 0) return undefined
    const leaves = object.map(([path, text]) => derivedLeaf(path, text))
    return { text: message, leaves, time: undefined, severity: undefined, wordsStart: 0 }
  },
}
