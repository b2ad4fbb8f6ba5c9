import { isAcceptable } from '../events/shred/event.ts'
import { type Severity, severityOf } from '../events/shred/severity.ts'
import type { Instant } from '../events/shred/time-text.ts'
import type { Pair } from './batch.ts'
import { accessLog } from './detect-access.ts'
import { messageKeysOf } from './detect-message.ts'
import { type Header, plainHeader } from './detect-plain.ts'
import { syslog } from './detect-syslog.ts'

/** Detected is what a line of text says of itself. */
export type Detected = {
  keys: readonly Pair[]
  time: Instant | undefined
  /** refusedTime is a time that the line says and that cannot be. */
  refusedTime: string | undefined
  severity: Severity | undefined
}

/** DETECTED_CHARS_MAX: what a line says of itself stands at its beginning; only so much of it is looked at. */
const DETECTED_CHARS_MAX = 32_768

/** headers are the forms in which a line may begin; each gives what it says and the text that is left. */
const headers: readonly ((text: string, at: Instant) => Header | undefined)[] = [syslog, accessLog, plainHeader]

/** detect reads the usual forms of text: syslog, access logs, a time and a level in front, and JSON, logfmt, CEF and key=value pairs behind them. */
export function detect(line: string, at: Instant): Detected | undefined {
  const text = line.length > DETECTED_CHARS_MAX ? line.slice(0, DETECTED_CHARS_MAX) : line
  const header = firstOf(text, at)
  const inner = header?.isWhole ? [] : messageKeysOf(header?.rest ?? text)
  const keys = joined(header?.keys ?? [], inner)
  const severity = isException(text) && severityOf((path) => keys.find(([name]) => name === path)?.[1]) === 'none' ? 'error' : undefined
  if (keys.length === 0 && !header && !severity) return undefined
  const isTaken = header?.time !== undefined && isAcceptable(header.time, at)
  return {
    keys,
    time: isTaken ? header?.time : undefined,
    refusedTime: isTaken ? undefined : header?.timeText,
    severity,
  }
}

function firstOf(text: string, at: Instant): Header | undefined {
  for (const read of headers) {
    const header = read(text, at)
    if (header) return header
  }
  return undefined
}

/** joined lets the keys of the header go before those of the message: they say where the line comes from. */
function joined(outer: readonly Pair[], inner: readonly Pair[]): readonly Pair[] {
  if (outer.length === 0 || inner.length === 0) return outer.length === 0 ? inner : outer
  const names = new Set(outer.map(([name]) => name))
  return [...outer, ...inner.filter(([name]) => !names.has(name))]
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
