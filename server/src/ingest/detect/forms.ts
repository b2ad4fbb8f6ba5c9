import type { Instant } from '../../lines/values/time-text.ts'
import type { LineFormat } from '../../parsers/built-in.ts'
import type { Pair } from '../batch.ts'
import { accessLog } from './access.ts'
import { cef, jsonObject } from './message.ts'
import { pairsIn } from './pairs.ts'
import { type Header, plainHeader } from './plain.ts'
import { syslog } from './syslog.ts'

/** Returns the pairs of a line in one format; undefined for other lines. */
type LineForm = (text: string, at: Instant) => readonly Pair[] | undefined

const forms = {
  json: (text) => jsonObject(text.trim()),
  syslog: (text, at) => keysOf(syslog(text, at)),
  cef: (text) => cef(text.trim()),
  'access-log': (text, at) => keysOf(accessLog(text, at)),
  logfmt: (text) => (isAllPairs(text) ? pairsOf(text) : undefined),
  'key-value': (text, at) => (isAllPairs(text) ? undefined : pairsOf(text.slice(plainHeader(text, at)?.restStart ?? 0))),
} satisfies Record<LineFormat, LineForm>

/** Reads a line in one of the built-in formats. */
export const readForm = (form: LineFormat, text: string, at: Instant): readonly Pair[] | undefined => forms[form](text, at)

const keysOf = (header: Header | undefined): Pair[] | undefined => header?.leaves.map(({ path, text }) => [path, text])

const pairsOf = (text: string): Pair[] | undefined => {
  const pairs = pairsIn(text)
  return pairs.length === 0 ? undefined : pairs
}

const PAIR = /^[\w.@/-]+=(?:"(?:[^"\\]|\\.)*"|\S*)$/

/** True for a text that consists only of pairs. */
function isAllPairs(text: string): boolean {
  const words = text.trim().match(/[^\s"=]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)|\S+/g) ?? []
  return words.length > 1 && words.every((word) => PAIR.test(word))
}
