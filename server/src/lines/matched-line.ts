import { type Arrival, eventTime, isAcceptable } from './event.ts'
import { SeverityMemo } from './fast-severity.ts'
import { TimeReader } from './fast-time.ts'
import { toSlot } from './leaf-text.ts'
import type { LearnedShape } from './learned-shape.ts'
import type { LineMatcher } from './match.ts'
import type { RowFacts } from './prepared.ts'
import { type Severity, severityOf } from './severity.ts'
import type { StoredRow } from './shape.ts'
import { Masker } from './skeleton.ts'
import type { SlotMap } from './slots.ts'
import { END, NULL } from './walk.ts'

const NO_VALUE = -1

/** Which values of a line have a meaning. Lines with one severityOwner get their severity from the same keys. */
export type LineRoles = Pick<LearnedShape, 'values' | 'times' | 'message' | 'skeleton' | 'severityValues' | 'throws'> & {
  readonly severityOwner?: unknown
}

/** Reads time, severity and message of the line that a matcher matched last. The results hold until the next line. */
export class MatchedLine {
  /** The event time, the value it comes from (-1 for none), its format ('' for none), and a time text that was not acceptable. */
  ms = 0
  ns = 0
  timeValue = NO_VALUE
  timeFormat = ''
  refused: string | undefined
  /** The location of the value that `find` located last. */
  source: Uint8Array = new Uint8Array(0)
  from = 0
  to = 0
  readonly masker = new Masker()
  private readonly matcher: LineMatcher
  private readonly reader = new TimeReader()
  private readonly severities = new SeverityMemo()

  constructor(matcher: LineMatcher) {
    this.matcher = matcher
  }

  /** Sets source, from and to to a value of the line. */
  find(value: number, line: Uint8Array): void {
    const start = this.matcher.starts[value] as number
    const end = this.matcher.ends[value] as number
    if (start < 0) {
      this.source = this.matcher.scratch
      this.from = -1 - start
      this.to = -1 - end
    } else {
      this.source = line
      this.from = start
      this.to = end
    }
  }

  readTime(line: Uint8Array, { values, times }: LineRoles, arrival: Arrival): void {
    const best = times[0]
    if (best === undefined && arrival.time !== undefined && isAcceptable(arrival.time, arrival.at)) {
      this.setTime(arrival.time.ms, arrival.time.ns, NO_VALUE, '')
      return
    }
    if (best !== undefined && arrival.time === undefined) {
      this.find(best, line)
      if (this.reader.read(this.source, this.from, this.to) && isAcceptable(this.reader, arrival.at)) {
        this.setTime(this.reader.ms, this.reader.ns, best, this.reader.format)
        return
      }
    }
    const time = eventTime((path) => this.textOf(path, line, values), arrival)
    const value = times.find((at) => values[at]?.path === time.path) ?? NO_VALUE
    this.setTime(time.instant.ms, time.instant.ns, value, time.format)
    this.refused = time.refused
  }

  /** The bytes of the line lie in `line` between two positions, unless they are given as `whole`. */
  readSkeleton(line: Uint8Array, start: number, end: number, { message, skeleton }: LineRoles, whole?: Uint8Array): void {
    if (message !== NO_VALUE) {
      this.find(message, line)
      this.masker.hash(this.source, this.from, this.to)
    } else if (skeleton) {
      this.masker.high = skeleton.high
      this.masker.low = skeleton.low
    } else if (whole) this.masker.hash(whole, 0, whole.length)
    else this.masker.hash(line, start, end)
  }

  /** True when the time is that of the protocol or of a key of the line. */
  hasTime({ time, at }: Arrival): boolean {
    return this.timeValue !== NO_VALUE || (time !== undefined && isAcceptable(time, at))
  }

  /** The severity of the line with its attributes, which take precedence. */
  severityWith(facts: RowFacts, line: Uint8Array, learned: LineRoles): Severity {
    if (facts.arrival.severity) return facts.arrival.severity
    if (!facts.tellsSeverity) return this.severity(line, learned)
    return severityOf((path) => facts.textOf(path) ?? this.textOf(path, line, learned.values))
  }

  private severity(line: Uint8Array, learned: LineRoles): Severity {
    const { severityValues, values, throws, severityOwner: owner = learned } = learned
    if (severityValues.length === 0) return throws ? 'error' : 'none'
    let remembers = true
    this.severities.start()
    for (const value of severityValues) {
      this.find(value, line)
      remembers = this.severities.add(this.source, this.from, this.to) && remembers
    }
    const known = remembers ? this.severities.recall(owner) : undefined
    if (known !== undefined) return known
    const severity = severityOf((path) => this.textOf(path, line, values))
    if (remembers) this.severities.remember(owner, severity)
    return severity
  }

  /** The row of the line as a rebuild would read it from the store. */
  stored(line: Uint8Array, { values }: LearnedShape, map: SlotMap): StoredRow {
    const texts = new Map<string, string>()
    for (const [value, { path, kind }] of values.entries()) {
      if (kind !== NULL && kind !== END) texts.set(map.slots.get(path) ?? `more ${path}`, toSlot(this.text(value, line)))
    }
    return { time: { ms: this.ms, ns: this.ns }, slot: (slot) => texts.get(slot) ?? '', more: (path) => texts.get(`more ${path}`), raw: '' }
  }

  private textOf(path: string, line: Uint8Array, values: LineRoles['values']): string | undefined {
    const value = values.findIndex((candidate) => candidate.path === path && candidate.kind !== NULL && candidate.kind !== END)
    return value < 0 ? undefined : this.text(value, line)
  }

  private text(value: number, line: Uint8Array): string {
    this.find(value, line)
    return Buffer.from(this.source.buffer, this.source.byteOffset + this.from, this.to - this.from).toString('utf8')
  }

  private setTime(ms: number, ns: number, value: number, format: string | undefined): void {
    this.ms = ms
    this.ns = ns
    this.timeValue = value
    this.timeFormat = format ?? ''
    this.refused = undefined
  }
}
