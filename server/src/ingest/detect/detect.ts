import { severityOf } from '../../lines/severity.ts'
import type { FoundLeaf, FoundText } from '../../lines/text-line.ts'
import type { Instant } from '../../lines/time-text.ts'
import { accessLog } from './access.ts'
import { glogOrLogcatHeader } from './glog-logcat.ts'
import { messageLeaves } from './message.ts'
import { NO_PAIRS } from './pairs.ts'
import { type Header, plainHeader } from './plain.ts'
import { syslog } from './syslog.ts'

/** Bounds detection: only the beginning of a longer line is read, and the line is stored without a pattern. */
const DETECTED_CHARS_MAX = 32_768

/** The known formats of line headers. */
const headers: readonly ((text: string, at: Instant) => Header | undefined)[] = [syslog, glogOrLogcatHeader, accessLog, plainHeader]

/** Reads common text formats: syslog, access logs, a leading time and level, followed by JSON, logfmt, CEF or key=value pairs. */
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

/** Keys of the header take precedence over keys of the message, since they describe the source of the line. */
function joined(outer: readonly FoundLeaf[], inner: readonly FoundLeaf[]): readonly FoundLeaf[] {
  if (outer.length === 0 || inner.length === 0) return outer.length === 0 ? inner : outer
  return [...outer, ...inner.filter(({ path }) => !outer.some((leaf) => leaf.path === path))]
}

/** Exceptions begin with their type, so only the beginning of a line is searched. */
const EXCEPTION_CHARS = 1_000
const EXCEPTION =
  /\b[A-Z]\w*(?:Exception|Error)(?::|\(|$)|^Traceback \(most recent call last\)|^panic: |^goroutine \d+ \[|^\s*at \S.*\(.*\)$/

/** Detects exceptions and lines of stack traces. A cheap check excludes most lines. */
function isException(line: string): boolean {
  const text = line.slice(0, EXCEPTION_CHARS)
  const may = text.includes('xception') || text.includes('Error') || /^(?:Traceback|panic:|goroutine|\s*at )/.test(text)
  return may && EXCEPTION.test(text)
}
