import { severityOf } from '../../lines/severity.ts'
import type { FoundLeaf, FoundText } from '../../lines/text-line.ts'
import type { Instant } from '../../lines/time-text.ts'
import { accessLog } from './access.ts'
import { glogOrLogcatHeader } from './glog-logcat.ts'
import { messageLeaves } from './message.ts'
import { NO_PAIRS } from './pairs.ts'
import { type Header, plainHeader } from './plain.ts'
import { syslog } from './syslog.ts'

/** DETECTED_CHARS_MAX: what a line says of itself stands at its beginning; of a longer line only so much is looked at, and it is kept as it is. */
const DETECTED_CHARS_MAX = 32_768

/** headers are the forms in which a line may begin. */
const headers: readonly ((text: string, at: Instant) => Header | undefined)[] = [syslog, glogOrLogcatHeader, accessLog, plainHeader]

/** detect reads the usual forms of text: syslog, access logs, a time and a level in front, and JSON, logfmt, CEF and key=value pairs behind them. */
export function detect(line: string, at: Instant): FoundText | undefined {
  const isTooLong = line.length > DETECTED_CHARS_MAX
  const text = isTooLong ? line.slice(0, DETECTED_CHARS_MAX) : line
  const header = firstOf(text, at)
  const outer = header?.leaves ?? []
  const wordsStart = header?.wordsStart ?? 0
  const inner = header?.isWhole ? NO_PAIRS : messageLeaves(text, header?.restStart ?? 0, wordsStart)
  const leaves = joined(outer, inner.leaves)
  const severity =
    isException(text) && severityOf((path) => leaves.find((leaf) => leaf.path === path)?.text) === 'none' ? 'error' : undefined
  if (leaves.length === 0 && !header && !severity) return undefined
  const isAllCut = inner.isWhole && leaves.length === outer.length + inner.leaves.length
  return { text: line, leaves, time: header?.time, severity, wordsStart: isTooLong ? 0 : isAllCut ? text.length : wordsStart }
}

function firstOf(text: string, at: Instant): Header | undefined {
  for (const read of headers) {
    const header = read(text, at)
    if (header) return header
  }
  return undefined
}

/** joined lets the keys of the header go before those of the message: they say where the line comes from. */
function joined(outer: readonly FoundLeaf[], inner: readonly FoundLeaf[]): readonly FoundLeaf[] {
  if (outer.length === 0 || inner.length === 0) return outer.length === 0 ? inner : outer
  return [...outer, ...inner.filter(({ path }) => !outer.some((leaf) => leaf.path === path))]
}

/** EXCEPTION_CHARS: an exception says so at its beginning; looking further could cost more than the line is worth. */
const EXCEPTION_CHARS = 1_000
const EXCEPTION =
  /\b[A-Z]\w*(?:Exception|Error)(?::|\(|$)|^Traceback \(most recent call last\)|^panic: |^goroutine \d+ \[|^\s*at \S.*\(.*\)$/

/** isException recognises exceptions and the lines of stack traces; most lines are let go by the first look. */
function isException(line: string): boolean {
  const text = line.slice(0, EXCEPTION_CHARS)
  const may = text.includes('xception') || text.includes('Error') || /^(?:Traceback|panic:|goroutine|\s*at )/.test(text)
  return may && EXCEPTION.test(text)
}
