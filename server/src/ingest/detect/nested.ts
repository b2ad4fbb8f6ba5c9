import { messageKeys } from '../../lines/event.ts'
import { decodeText } from '../../lines/leaf-text.ts'
import { BROKEN, END, NULL, STRING, Walk } from '../../lines/walk.ts'
import type { Pair } from '../batch.ts'
import { jsonObject } from './message.ts'
import { pairsIn } from './pairs.ts'

/** WITHIN is how a JSON object begins that is a text of JSON; WRAPPED is how container runtimes begin the line that they put around a text. */
const WITHIN = Buffer.from('"{\\"')
const WRAPPED = Buffer.from('{"log":"')

/** mayNest says whether looking into the messages of a body's lines is worth while; most bodies have nothing there. */
export const mayNest = (bytes: Uint8Array): boolean => asBuffer(bytes).includes(WITHIN) || asBuffer(bytes).includes(WRAPPED)

/** nestedKeys reads the keys of a message that is JSON within JSON, or logfmt that a container runtime wrapped. What the line says itself goes before. */
export function nestedKeys(line: Uint8Array): Pair[] {
  const isWrapped = asBuffer(line.subarray(0, WRAPPED.length)).equals(WRAPPED)
  if (!isWrapped && !asBuffer(line).includes(WITHIN)) return []
  const { paths, texts } = valuesOf(line)
  const message = messageKeys.map((key) => texts.get(key)).find((text) => text !== undefined)
  if (message === undefined) return []
  const trimmed = message.trim()
  const inner = jsonObject(trimmed) ?? (isWrapped && isLogfmt(trimmed) ? pairsIn(trimmed) : [])
  return inner.filter(([path]) => !paths.has(path))
}

/** isLogfmt says that nothing but pairs stands in a text. */
const isLogfmt = (text: string): boolean => /^[\w.@/-]+=/.test(text)

function valuesOf(line: Uint8Array): { paths: Set<string>; texts: Map<string, string> } {
  const walk = new Walk(line, 0, line.length)
  const paths = new Set<string>()
  const texts = new Map<string, string>()
  for (let step = walk.next(); step !== END && step !== BROKEN; step = walk.next()) {
    if (step === NULL) continue
    paths.add(walk.path)
    if (step !== STRING || !messageKeys.includes(walk.path)) continue
    texts.set(walk.path, decodeText(asBuffer(line).toString('utf8', walk.valueStart, walk.valueEnd)).text)
  }
  return { paths, texts }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
