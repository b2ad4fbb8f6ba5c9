import { derivedLeaf, type FoundLeaf, type FoundText } from '../../lines/reference/text-line.ts'
import { type Severity, severityOf } from '../../lines/values/severity.ts'
import type { Instant } from '../../lines/values/time-text.ts'
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
  const wordsStart = header?.wordsStart ?? 0
  const inner = header?.isWhole ? NO_PAIRS : messageLeaves(text, header?.restStart ?? 0, wordsStart)
  const outer = header?.leaves ?? NO_PAIRS.leaves
  const message = header?.isEnvelope ? overridden(inner.leaves, envelopedLeaves(text.slice(header.restStart), at)) : inner.leaves
  const found = joined(outer, message)
  const leaves = header?.fallback && severityIn(found) === 'none' ? joined(found, header.fallback) : found
  const severity = isException(text) && severityIn(leaves) === 'none' ? 'error' : undefined
  if (leaves.length === 0 && !header && !severity) return undefined
  const isAllCut = inner.isWhole && found.length === outer.length + inner.leaves.length
  return { text: line, leaves, time: header?.time, severity, wordsStart: isTooLong ? 0 : isAllCut ? text.length : wordsStart }
}

const severityIn = (leaves: readonly FoundLeaf[]): Severity => severityOf((path) => leaves.find((leaf) => leaf.path === path)?.text)

/** The headers that the text after that of a transport may have. Its time is the one of the transport. */
const inEnvelopes = headers.filter((read) => read !== syslog)

/** The leaves of the header of a text that a transport wraps, unless it begins like JSON. They are not cut out. */
function envelopedLeaves(text: string, at: Instant): readonly FoundLeaf[] {
  if (/^[ \t]*\{/.test(text)) return NO_PAIRS.leaves
  const header = firstOf(text, at, inEnvelopes)
  return header?.leaves.map(({ path, text: value }) => derivedLeaf(path, value)) ?? NO_PAIRS.leaves
}

function firstOf(text: string, at: Instant, readers = headers): Header | undefined {
  for (const read of readers) {
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

/** Keys of the header within a message take precedence over its other keys. */
function overridden(leaves: readonly FoundLeaf[], header: readonly FoundLeaf[]): readonly FoundLeaf[] {
  if (header.length === 0) return leaves
  const kept = leaves.map((leaf) => header.find(({ path }) => path === leaf.path) ?? leaf)
  return [...kept, ...header.filter(({ path }) => !leaves.some((leaf) => leaf.path === path))]
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
