import { messageKeys } from '../../lines/event.ts'
import { decodeText } from '../../lines/leaf-text.ts'
import { BROKEN, END, NULL, STRING, Walk } from '../../lines/walk.ts'
import type { Pair } from '../batch.ts'
import { jsonObject } from './message.ts'
import { pairsIn } from './pairs.ts'

/** WITHIN begins a JSON object inside a JSON string. WRAPPED begins a line of a container runtime. */
const WITHIN = Buffer.from('"{\\"')
const WRAPPED = Buffer.from('{"log":"')

/** A cheap check for nested messages in a body; most bodies have none. */
export const mayNest = (bytes: Uint8Array): boolean => asBuffer(bytes).includes(WITHIN) || asBuffer(bytes).includes(WRAPPED)

/** Reads the keys of a message that is JSON within JSON, or logfmt wrapped by a container runtime. Keys of the line take precedence. */
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

/** True for a text that begins with a pair. */
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
