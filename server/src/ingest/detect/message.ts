import { decodeText } from '../../lines/reference/leaf-text.ts'
import { derivedLeaf } from '../../lines/reference/text-line.ts'
import { BROKEN, END, isNameless, NULL, STRING, Walk } from '../../lines/reference/walk.ts'
import type { Pair } from '../batch.ts'
import { type FoundPairs, findPairs } from './pairs.ts'

const CEF = /(?:^|\s)CEF:(\d+)\|/
const LEAVES_MAX = 1_000

/** Reads CEF, a JSON object, or key=value pairs (logfmt) in a message; `whole` as for findPairs. */
export function messageLeaves(text: string, start: number, whole: number): FoundPairs {
  const end = endOfText(text)
  const mayBeJson = text.charAt(end - 1) === '}'
  if (mayBeJson || text.indexOf('CEF:', start) >= 0) {
    const trimmed = text.slice(start, end).trimStart()
    const pairs = cef(trimmed) ?? (mayBeJson ? (jsonObject(trimmed.replace(/^@cee:\s*/, '')) ?? jsonTail(trimmed)) : undefined)
    if (pairs) return { leaves: pairs.map(([path, value]) => derivedLeaf(path, value)), isWhole: false }
  }
  return findPairs(text, startOfText(text, start), end, whole)
}

const BLANK = /\s/

function endOfText(text: string): number {
  let end = text.length
  while (end > 0 && BLANK.test(text.charAt(end - 1))) end -= 1
  return end
}

function startOfText(text: string, from: number): number {
  let start = from
  while (start < text.length && BLANK.test(text.charAt(start))) start += 1
  return start
}

/** Returns the values of a text that is one JSON object; undefined for other texts. */
export function jsonObject(text: string): Pair[] | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined
  const bytes = Buffer.from(text, 'utf8')
  const walk = new Walk(bytes, 0, bytes.length)
  const leaves = new Map<string, string>()
  for (;;) {
    const step = walk.next()
    if (step === BROKEN) return undefined
    if (step === END) return [...leaves]
    if (step === NULL || leaves.size >= LEAVES_MAX || isNameless(walk.path)) continue
    const source = bytes.toString('utf8', walk.valueStart, walk.valueEnd)
    leaves.set(walk.path, step === STRING ? decodeText(source).text : source)
  }
}

/** Reads a JSON object at the end of a text. */
function jsonTail(text: string): Pair[] | undefined {
  const start = text.endsWith('}') ? text.indexOf('{"') : -1
  return start > 0 ? jsonObject(text.slice(start)) : undefined
}

const cefNames = ['device_vendor', 'device_product', 'device_version', 'signature_id', 'name', 'severity']
const CEF_PAIR = /(?:^|\s)([\w.-]{1,128})=/g

/** Reads the Common Event Format; undefined for other texts. */
export function cef(text: string): Pair[] | undefined {
  const match = CEF.exec(text)
  if (!match) return undefined
  const fields = text.slice(match.index + match[0].length).split(/(?<!\\)\|/)
  if (fields.length < cefNames.length) return undefined
  const head = cefNames.map((name, index): Pair => [name, (fields[index] ?? '').replace(/\\([|\\])/g, '$1')])
  return [['cef_version', match[1] ?? ''], ...head, ...cefExtension(fields.slice(cefNames.length).join('|'))]
}

/** Reads pairs whose values may contain spaces: each value ends at the next key. */
function cefExtension(text: string): Pair[] {
  const starts = [...text.matchAll(CEF_PAIR)].filter(({ index, 0: whole }) => text[index + whole.length - 2] !== '\\')
  return starts.map((match, index): Pair => {
    const value = text.slice(match.index + match[0].length, starts[index + 1]?.index).trim()
    return [match[1] ?? '', value.replace(/\\([=\\])/g, '$1').replace(/\\n/g, '\n')]
  })
}
