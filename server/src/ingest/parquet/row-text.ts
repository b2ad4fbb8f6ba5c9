import type { FileMetaData, ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet'

/**
 * Writes a value of a column as JSON; undefined for none. The text of a value must never change: the positions of rehydrations count its bytes.
 */
export function textOfValue(value: unknown, node: SchemaTree, forms: Forms): string | undefined {
  if (value === null || value === undefined) return undefined
  const { element, children } = node
  if (element.repetition_type === 'REPEATED' && Array.isArray(value)) return textOfList(value, (one) => textOfOne(one, node, forms))
  if (isList(node) && Array.isArray(value)) return textOfList(value, (one) => textOfValue(one, itemsOf(node), forms))
  if (isMap(node)) return textOfMap(value as Record<string, unknown>, children[0]?.children[1] ?? node, forms)
  return textOfOne(value, node, forms)
}

function textOfOne(value: unknown, node: SchemaTree, forms: Forms): string | undefined {
  const { element, children } = node
  if (value === null || value === undefined) return undefined
  if (children.length > 0 && element.logical_type?.type !== 'VARIANT') {
    const members = value as Record<string, unknown>
    return textOfMembers(children.map((child) => [child.element.name, textOfValue(members[child.element.name], child, forms)]))
  }
  const form = forms.get(element)
  return (form ? form(value) : undefined) ?? textOfPlain(value, element)
}

/** Writes an object without the members that have no value. */
export function textOfMembers(members: Iterable<readonly [name: string, text: string | undefined]>): string {
  let text = ''
  for (const [name, value] of members) if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${value}`
  return `{${text}}`
}

const textOfList = (list: readonly unknown[], textOf: (one: unknown) => string | undefined): string =>
  `[${list.map((one) => textOf(one) ?? 'null').join(',')}]`

const textOfMap = (map: Record<string, unknown>, values: SchemaTree, forms: Forms): string =>
  textOfMembers(Object.entries(map).map(([name, value]) => [name, textOfValue(value, values, forms)]))

const isList = ({ element, children }: SchemaTree): boolean => element.converted_type === 'LIST' && children.length === 1
const isMap = ({ element, children }: SchemaTree): boolean => element.converted_type === 'MAP' && children[0]?.children.length === 2

function itemsOf(node: SchemaTree): SchemaTree {
  const repeated = node.children[0] ?? node
  const [only] = repeated.children
  // The repetition is resolved in the list itself.
  return only && repeated.children.length === 1 ? only : { ...repeated, element: { ...repeated.element, repetition_type: 'REQUIRED' } }
}

function textOfPlain(value: unknown, { type }: SchemaElement): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return textOfNumber(value, type === 'FLOAT')
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint8Array) return textOfBytes(value)
  return (
    JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one instanceof Uint8Array ? base64(one) : one)) ?? 'null'
  )
}

function textOfNumber(value: number, isSingle: boolean): string {
  if (!Number.isFinite(value)) return JSON.stringify(String(value))
  if (!isSingle || Number.isInteger(value)) return String(value)
  // The shortest number with the same value in single precision: 0.1 and not 0.10000000149011612.
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Text, or the base64 of bytes that are none. */
function textOfBytes(bytes: Uint8Array): string {
  try {
    return JSON.stringify(utf8.decode(bytes))
  } catch {
    return JSON.stringify(base64(bytes))
  }
}

/** How values are written whose text the type of their column decides. */
type Forms = ReadonlyMap<SchemaElement, (value: unknown) => string | undefined>

/** The forms of a file. Types that the library would convert with a loss, or not at all, are removed from its schema. */
export function formsOf({ schema }: FileMetaData): Forms {
  const forms = new Map<SchemaElement, (value: unknown) => string | undefined>()
  for (const element of schema) {
    const form = formOf(element)
    if (!form) continue
    forms.set(element, form)
    delete element.converted_type
    delete element.logical_type
  }
  return forms
}

function formOf({ converted_type, logical_type, scale = 0, type_length }: SchemaElement) {
  const logical = logical_type?.type
  if (converted_type === 'DECIMAL' || logical === 'DECIMAL') return (value: unknown) => decimalText(value, scale)
  if (converted_type === 'JSON' || logical === 'JSON') return jsonText
  if (converted_type === 'TIME_MILLIS' || (logical === 'TIME' && logical_type.unit === 'MILLIS'))
    return (value: unknown) => timeText(value, 3)
  if (converted_type === 'TIME_MICROS' || (logical === 'TIME' && logical_type.unit === 'MICROS'))
    return (value: unknown) => timeText(value, 6)
  if (logical === 'TIME') return (value: unknown) => timeText(value, 9)
  if (converted_type === 'INTERVAL' || (logical === 'INTERVAL' && type_length === 12)) return intervalText
  const isOpaque = converted_type === 'BSON' || logical === 'BSON' || logical === 'GEOMETRY' || logical === 'GEOGRAPHY'
  return isOpaque ? (value: unknown) => (value instanceof Uint8Array ? JSON.stringify(base64(value)) : undefined) : undefined
}

const SCALE_MAX = 1_000

/** All digits of a decimal number. */
function decimalText(value: unknown, scale: number): string | undefined {
  const unscaled =
    value instanceof Uint8Array
      ? signedOf(value)
      : typeof value === 'bigint' || Number.isInteger(value)
        ? BigInt(value as number)
        : undefined
  if (unscaled === undefined || scale < 0 || scale > SCALE_MAX) return undefined
  if (scale === 0) return String(unscaled)
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const signedOf = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))

function jsonText(value: unknown): string | undefined {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value)
  try {
    JSON.parse(text)
    // Line ends between tokens are blanks; within texts JSON has none.
    return text.replace(/[\r\n]/g, ' ')
  } catch {
    return JSON.stringify(text)
  }
}

const DAY_S = 86_400n

function timeText(value: unknown, digits: number): string | undefined {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return undefined
  const unit = 10n ** BigInt(digits)
  const count = BigInt(value as number)
  const seconds = count / unit
  if (count < 0n || seconds >= DAY_S) return undefined
  const part = (n: bigint) => String(n).padStart(2, '0')
  const fraction = String(count % unit).padStart(digits, '0')
  return `"${part(seconds / 3_600n)}:${part((seconds / 60n) % 60n)}:${part(seconds % 60n)}.${fraction}"`
}

/** Months, days and milliseconds, as a duration of ISO 8601. */
function intervalText(value: unknown): string | undefined {
  if (!(value instanceof Uint8Array) || value.length !== 12) return undefined
  const view = new DataView(value.buffer, value.byteOffset, value.length)
  const [months, days, ms] = [view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true)]
  return `"P${months}M${days}DT${ms / 1_000}S"`
}

/** Times keep all their digits. */
export const timeParsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (count) => instantText(BigInt(count), 3),
  timestampFromMicroseconds: (count) => instantText(BigInt(count), 6),
  timestampFromNanoseconds: (count) => instantText(BigInt(count), 9),
  dateFromDays: (days) => instantText(BigInt(days) * DAY_S, 0).slice(0, -10),
}

/** Milliseconds since 1970 of what `timestampFromMilliseconds` gives. */
export const msOfInstant = (text: unknown): number => Date.parse(String(text))

const INSTANT_MAX_MS = 8_640_000_000_000_000n

/** A time of ISO 8601; the number itself where there is no such time. */
function instantText(count: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits)
  const rest = ((count % unit) + unit) % unit
  const seconds = (count - rest) / unit
  const ms = seconds * 1_000n
  if (ms > INSTANT_MAX_MS || ms < -INSTANT_MAX_MS) return String(count)
  const whole = new Date(Number(ms)).toISOString().slice(0, -5)
  return digits === 0 ? `${whole}Z` : `${whole}.${String(rest).padStart(digits, '0')}Z`
}
