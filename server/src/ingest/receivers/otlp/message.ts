import { Failure } from '../../../kernel/errors.ts'
import type { Instant } from '../../../lines/time-text.ts'

/** The kinds of a value: absent, text, a number or boolean, a list or a map as JSON. */
export const EMPTY = 0
export const TEXT = 1
export const SCALAR = 2
export const LIST = 3
export const MAP = 4
export type ValueKind = typeof EMPTY | typeof TEXT | typeof SCALAR | typeof LIST | typeof MAP

/** A Value is one of OpenTelemetry's values as text: numbers as they were spelled, bytes as base64, lists and maps as compact JSON. */
export type OtlpValue = { readonly kind: ValueKind; readonly text: string }
export type Attribute = OtlpValue & { readonly name: string }
/** A Body is the value of a log record as bytes, so that a text stays as it came. */
export type OtlpBody = { readonly kind: ValueKind; readonly bytes: Uint8Array }

/** A Source reads the field that it stands at; protobuf and JSON each have one. What cannot be read is thrown as Unreadable or as a Failure. */
export type FieldSource = {
  instant(): Instant | undefined
  text(): string
  number(): number
  /** id reads a trace or span id of so many bytes as hex in lower case; '' for one of another length or all zero. */
  id(bytes: number): string
  body(): OtlpBody
  attribute(): Attribute
  message<T>(type: Message<T>, target: T): void
  /** record reads a message that may be refused without harm to others, and gives the reason. */
  record<T>(type: Message<T>, target: T): string | undefined
}

export type FieldReader<T> = (target: T, from: FieldSource) => void
/** A Message is what is known of a message: its fields by their numbers and by their names in JSON; other fields are skipped. */
export type Message<T> = {
  readonly byNumber: readonly (FieldReader<T> | undefined)[]
  readonly byName: ReadonlyMap<string, FieldReader<T>>
}

export function message<T>(fields: readonly (readonly [number: number, name: string, read: FieldReader<T>])[]): Message<T> {
  const byNumber: (FieldReader<T> | undefined)[] = []
  for (const [number, , read] of fields) byNumber[number] = read
  return { byNumber: Array.from(byNumber), byName: new Map(fields.map(([, name, read]) => [name, read])) }
}

/** set puts what a field holds into the target's member of that name. */
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

/** An Unreadable is thrown for what spoils one record only, where the source knows where the next one begins. */
export class UnreadableRecord extends Error {}

/** VALUE_DEPTH_MAX is how deep lists and maps may lie in one another; protobuf itself reads no deeper. */
export const VALUE_DEPTH_MAX = 100
export const tooDeep = (): UnreadableRecord => new UnreadableRecord(`values lie deeper than ${VALUE_DEPTH_MAX} levels in one another`)

/** VALUES_MAX bounds the memory that one post can take in a worker. */
export const VALUES_MAX = 1_000_000

/** An Allowance is how many values and parts of messages a body may still have; in many of them, the smallest take the most memory. */
export class ValueBudget {
  #left = VALUES_MAX

  spend(): void {
    this.#left -= 1
    if (this.#left < 0) throw new Failure(413, `more than ${VALUES_MAX} values in one post`)
  }
}

const NS_DIGITS = 6

/** nanoText writes an instant as the number of nanoseconds since 1970. */
export const nanoText = ({ ms, ns }: Instant): string => (ms === 0 ? String(ns) : `${ms}${String(ns).padStart(NS_DIGITS, '0')}`)

/** nanoInstant reads such a number from its digits. */
export function nanoInstant(digits: string): Instant | undefined {
  const read = { ms: Number(digits.slice(0, -NS_DIGITS)), ns: Number(digits.slice(-NS_DIGITS)) }
  return read.ms === 0 && read.ns === 0 ? undefined : read
}
