import { messageKeys } from '../../lines/event.ts'
import { decodeText } from '../../lines/leaf-text.ts'
import { BROKEN, END, NULL, STRING, Walk } from '../../lines/walk.ts'
import type { Pair } from '../batch.ts'
import { jsonObject } from './message.ts'
import { pairsIn } from './pairs.ts'

/** WITHIN begins a JSON object inside a JSON string. WRAPPED begins a line of a container runtime. */
const WITHIN = Buffer.from('"{\\"')
const WRAPPED = Buffer.from('{"log":"')

const [QUOTE, OPENING, BACKSLASH] = [0x22, 0x7b, 0x5c]
/** With more backslashes than one in so many bytes, a search for the whole text is faster. */
const BYTES_PER_BACKSLASH = 128

/** A cheap check for JSON within JSON in a body; most bodies have none, and few backslashes. */
export function mayNest(bytes: Uint8Array): boolean {
  const body = asBuffer(bytes)
  let left = bytes.length / BYTES_PER_BACKSLASH
  for (let at = body.indexOf(BACKSLASH); at >= 0; at = body.indexOf(BACKSLASH, at + 1)) {
    if (body[at - 1] === OPENING && body[at - 2] === QUOTE && body[at + 1] === QUOTE) return true
    left -= 1
    if (left < 0) return body.includes(WITHIN, at)
  }
  return false
}

/** True for a line of a container runtime. */
export function isWrapped(line: Uint8Array): boolean {
  for (let at = 0; at < WRAPPED.length; at += 1) if (line[at] !== WRAPPED[at]) return false
  return true
}

/** Reads the keys of a message that is JSON within JSON, or logfmt wrapped by a container runtime. Keys of the line take precedence. */
export function nestedKeys(line: Uint8Array): Pair[] {
  const wrapped = isWrapped(line)
  if (!wrapped && !asBuffer(line).includes(WITHIN)) return []
  const { paths, texts } = valuesOf(line)
  const message = messageKeys.map((key) => texts.get(key)).find((text) => text !== undefined)
  if (message === undefined) return []
  const trimmed = message.trim()
  const inner = jsonObject(trimmed) ?? (wrapped && isLogfmt(trimmed) ? pairsIn(trimmed) : [])
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
