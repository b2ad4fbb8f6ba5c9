import { Recent } from '../../kernel/recent.ts'
import { isAcceptable, messageKeys, timeKeys } from '../../lines/reference/event.ts'
import { decodeText } from '../../lines/reference/leaf-text.ts'
import { BROKEN, END, NULL, OPEN_OBJECT, STRING, Walk } from '../../lines/reference/walk.ts'
import { type Instant, readTime } from '../../lines/values/time-text.ts'
import type { LineFormat } from '../../parsers/built-in.ts'
import type { CompiledParser } from '../../parsers/compiled.ts'
import { compilePattern, ParseBudget, type PatternType } from '../../parsers/parsers.ts'
import type { Pair } from '../batch.ts'
import { readForm } from '../detect/forms.ts'
import { afterBlank } from './lines.ts'

/** The parser of a dataset. It runs before detection. */
export type AssignedParser = { type: PatternType; pattern: string } | { type: 'JAVA'; form: LineFormat }

/** Counts of the parsed lines of one batch. */
export type ParserStats = { lines: number; matched: number; givenUp: number; durationNs: number }

/** The keys that an assigned parser found in a line, and the time of a key in a notation that the store does not read. */
export type ParsedLine = { keys: readonly Pair[]; time: Instant | undefined }

const COMPILED_MAX = 256
const NS_PER_MS = 1_000_000

/** Caches compiled parsers. */
export class LineParsers {
  readonly #compiled = new Recent<string, CompiledParser>(COMPILED_MAX)

  /** The parser for the lines of one batch. */
  of(assigned: AssignedParser): LineParser {
    return new LineParser(assigned.type === 'JAVA' ? formReader(assigned.form) : patternReader(this.#compile(assigned)))
  }

  #compile({ type, pattern }: Exclude<AssignedParser, { type: 'JAVA' }>): CompiledParser {
    return this.#compiled.of(`${type} ${pattern}`, () => compilePattern(type, pattern))
  }
}

type Reader = (text: string, at: Instant) => readonly Pair[] | 'no match' | 'given up'

const formReader =
  (form: LineFormat): Reader =>
  (text, at) =>
    readForm(form, text, at) ?? 'no match'

function patternReader(compiled: CompiledParser): Reader {
  const allowance = new ParseBudget()
  return (text) => {
    const read = allowance.read(compiled, text)
    return read.kind === 'match' ? read.pairs : read.kind
  }
}

/** Reads and counts the lines of one batch with the parser of their dataset. */
export class LineParser {
  readonly counts: ParserStats = { lines: 0, matched: 0, givenUp: 0, durationNs: 0 }
  readonly #read: Reader

  constructor(read: Reader) {
    this.#read = read
  }

  /** Parses a text line, or the message of a JSON line, whose own keys take precedence. Undefined when the pattern does not match. */
  read(line: Uint8Array, at: Instant): ParsedLine | undefined {
    const startedMs = performance.now()
    const { text, own } = line[afterBlank(line, 0)] === OPEN_OBJECT ? messageOf(line) : { text: asBuffer(line).toString('utf8'), own: NONE }
    const found = text === undefined ? 'no match' : this.#read(text, at)
    this.counts.lines += 1
    this.counts.durationNs += Math.round((performance.now() - startedMs) * NS_PER_MS)
    if (found === 'given up') this.counts.givenUp += 1
    if (typeof found === 'string') return undefined
    this.counts.matched += 1
    const keys = own.size === 0 ? found : found.filter(([name]) => !own.has(name))
    return { keys, time: timeOf(keys, at) }
  }
}

const NONE: ReadonlySet<string> = new Set()

/** The message of a JSON line, and the line's own keys. */
export function messageOf(line: Uint8Array): { text: string | undefined; own: ReadonlySet<string> } {
  const walk = new Walk(line, 0, line.length)
  const own = new Set<string>()
  const texts = new Map<string, string>()
  for (let step = walk.next(); step !== END && step !== BROKEN; step = walk.next()) {
    if (step === NULL) continue
    own.add(walk.path)
    if (step !== STRING || !messageKeys.includes(walk.path)) continue
    texts.set(walk.path, decodeText(asBuffer(line).toString('utf8', walk.valueStart, walk.valueEnd)).text)
  }
  return { text: messageKeys.map((key) => texts.get(key)).find((text) => text !== undefined), own }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY_MS = 86_400_000
const HTTP_DATE = /^(?<day>\d\d?)\/(?<month>[A-Z][a-z]{2})\/(?<year>\d{4}):(?<clock>\d\d:\d\d:\d\d)(?: (?<zone>[+-]\d{4}))?$/
const SYSLOG_DATE =
  /^(?:[A-Z][a-z]{2} )?(?<month>[A-Z][a-z]{2}) {1,2}(?<day>\d\d?) (?<clock>\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?: (?<year>\d{4}))?$/

/** Reads the dates of access logs and of syslog, which the store does not read. The store finds other times in the keys itself. */
function timeOf(keys: readonly Pair[], at: Instant): Instant | undefined {
  const values = new Map(keys)
  const text = timeKeys.map((key) => values.get(key)).find((value) => value !== undefined)
  if (text === undefined || readTime(text)) return undefined
  const found = (HTTP_DATE.exec(text) ?? SYSLOG_DATE.exec(text))?.groups
  if (!found) return undefined
  // A time without a year is the latest one that is at most a day ahead.
  const years = found.year === undefined ? [0, 1].map((back) => new Date(at.ms + DAY_MS).getUTCFullYear() - back) : [Number(found.year)]
  return years.map((year) => instantOf(found, year)).find((time) => time && isAcceptable(time, at))
}

function instantOf({ month = '', day = '', clock, zone }: Record<string, string | undefined>, year: number): Instant | undefined {
  const number = months.indexOf(month) + 1
  const date = `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`
  return number === 0 ? undefined : readTime(`${date}T${clock}${zone ?? 'Z'}`)?.instant
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
