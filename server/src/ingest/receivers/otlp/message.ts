import { Failure } from '../../../kernel/errors.ts'
import type { RecordDraft } from '../../../lines/shredder/record-table.ts'
import type { Instant } from '../../../lines/values/time-text.ts'

/** The kinds of a value: absent, text, a number or boolean, a list or a map as JSON. */
export const EMPTY = 0
export const TEXT = 1
export const SCALAR = 2
export const LIST = 3
export const MAP = 4
export type ValueKind = typeof EMPTY | typeof TEXT | typeof SCALAR | typeof LIST | typeof MAP

/** A value as text: numbers as written, bytes as base64, lists and maps as compact JSON. */
export type OtlpValue = { readonly kind: ValueKind; readonly text: string }
export type Attribute = OtlpValue & { readonly name: string }
/** The value of a log record as bytes, so that a text stays unchanged. */
export type OtlpBody = { readonly kind: ValueKind; readonly bytes: Uint8Array }

/** Reads the current field; protobuf and JSON each implement it. Throws UnreadableRecord or a Failure for unreadable input. */
export type FieldSource = {
  instant(): Instant | undefined
  text(): string
  number(): number
  /** Reads a trace or span id of a given length in bytes as lower-case hex; '' for another length or all zeros. */
  id(bytes: number): string
  body(): OtlpBody
  attribute(): Attribute
  message<T>(type: Message<T>, target: T): void
  /** Reads a message that can be rejected alone. Returns the reason of a rejection. */
  record<T>(type: Message<T>, target: T): string | undefined
  /** Reads a log record of the usual form into a draft. False when the record must be read by `record`. */
  log(draft: RecordDraft): boolean
}

export type FieldReader<T> = (target: T, from: FieldSource) => void
/** The definition of a message: its fields by number and by JSON name. Other fields are skipped. */
export type Message<T> = {
  readonly byNumber: readonly (FieldReader<T> | undefined)[]
  readonly byName: ReadonlyMap<string, FieldReader<T>>
}

export function message<T>(fields: readonly (readonly [number: number, name: string, read: FieldReader<T>])[]): Message<T> {
  const byNumber: (FieldReader<T> | undefined)[] = []
  for (const [number, , read] of fields) byNumber[number] = read
  return { byNumber: Array.from(byNumber), byName: new Map(fields.map(([, name, read]) => [name, read])) }
}

/** Assigns a field to the target's member of that name. */
export const set =
  <Key extends string, Held>(key: Key, read: (from: FieldSource) => Held): FieldReader<{ [member in Key]: Held }> =>
  (target, from) => {
    target[key] = read(from)
  }
export const instant = (from: FieldSource): Instant | undefined => from.instant()
export const body = (from: FieldSource): OtlpBody | undefined => from.body()
export const text = (from: FieldSource): string => from.text()
export const number = (from: FieldSource): number => from.number()
export const traceId = (from: FieldSource): string => from.id(16)
export const spanId = (from: FieldSource): string => from.id(8)
export const addAttribute: FieldReader<{ readonly attributes: Attribute[] }> = (target, from) => {
  target.attributes.push(from.attribute())
}

/** Thrown for an error that affects one record, when the start of the next one is known. */
export class UnreadableRecord extends Error {}

/** How deep lists and maps may be nested; protobuf itself reads no deeper. */
export const VALUE_DEPTH_MAX = 100
export const tooDeep = (): UnreadableRecord => new UnreadableRecord(`values are nested more than ${VALUE_DEPTH_MAX} levels deep`)

/** Bounds the memory of one post in a worker. */
export const VALUES_MAX = 1_000_000

/** Counts down the values and parts of messages that a body may still contain. Many small ones take the most memory. */
export class ValueBudget {
  left = VALUES_MAX

  spend(): void {
    this.left -= 1
    if (this.left < 0) throw new Failure(413, `more than ${VALUES_MAX} values in one post`)
  }
}

const NS_DIGITS = 6

/** Writes an instant as the number of nanoseconds since 1970. */
export const nanoText = ({ ms, ns }: Instant): string => (ms === 0 ? String(ns) : `${ms}${String(ns).padStart(NS_DIGITS, '0')}`)

/** Reads an instant from the digits of such a number. */
export function nanoInstant(digits: string): Instant | undefined {
  const read = { ms: Number(digits.slice(0, -NS_DIGITS)), ns: Number(digits.slice(-NS_DIGITS)) }
  return read.ms === 0 && read.ns === 0 ? undefined : read
}
