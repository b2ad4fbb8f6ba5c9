import { z } from 'zod'

/** Shared schemas of the contract (service specification, section 2; API reference part 1.10). */

/** Accepted in any case and normalized to lower case. */
export const uuid = z.guid({ error: 'must be a UUID' }).toLowerCase()

/** True for a UUID in any case. For fields in which other texts are valid too. */
export const isUuid = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

const printable = /^[^\0]*$/

/** A string of min..max UTF-16 units without NUL, which the stores cannot hold in names. */
export const text = (min: number, max: number): z.ZodString => {
  const base = z
    .string()
    .max(max, { error: `must be at most ${max} characters` })
    .regex(printable, { error: 'must not contain NUL' })
  return min > 0 ? base.min(min, { error: `must be ${min} to ${max} characters` }) : base
}

/** The form of a text without control characters, written so that the regular expressions of all common languages read it alike. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: names them in order to refuse them.
const oneLine = /^[^\x00-\x1f\x7f-\x9f]*$/

/** Refuses control characters, among them line breaks. */
export const withoutControls = (base: z.ZodString): z.ZodString => base.regex(oneLine, { error: 'must not contain control characters' })

/** Unix epoch milliseconds. */
export const ms = z.int().min(0)
/** Unix epoch seconds. */
export const sec = z.int().min(0)

const ITEMS_MAX = 10_000

type Size = { min?: number; max?: number }

/** A list of ids, addresses, names or objects. It always has a maximum, beyond which no item is validated. */
export const list = <T extends z.ZodType>(item: T, { min, max = ITEMS_MAX }: Size = {}) => {
  const bounded = z.array(item).max(max, { error: `must have at most ${items(max)}` })
  return min === undefined ? bounded : bounded.min(min, { error: `must have at least ${items(min)}` })
}

const items = (count: number): string => `${count} item${count === 1 ? '' : 's'}`

/** A list of free texts, such as fields to group by. Empty ones are dropped before it is validated: forms send them for what was left blank. */
export const textList = <T extends z.ZodType<string>>(item: T, size: Size = {}) =>
  z.preprocess((value) => (Array.isArray(value) ? value.filter((entry) => entry !== '') : value), list(item, size))

/** An object with free names, at most `max`. With more, no member is validated. */
export const mapOf = <V extends z.ZodType>(value: V, max: number) => {
  const map = z.preprocess(
    (given, context) => {
      if (typeof given !== 'object' || given === null || Object.keys(given).length <= max) return given
      context.addIssue({ code: 'custom', message: `must have at most ${max} entries`, input: given })
      return z.NEVER
    },
    z.record(text(1, 255), value).meta({ maxProperties: max }),
  )
  // The input type of a preprocess is unknown; callers need the type of the map.
  return map as unknown as z.ZodType<Record<string, z.output<V>>, Record<string, z.input<V>>>
}

/** A value of any form, which is stored unchanged. */
export const anyValue = (charsMax: number) =>
  z.unknown().refine((value) => isStorable(value) && lengthOf(value) <= charsMax, {
    error: `must be at most ${charsMax} characters, without NUL and without numbers beyond 1.8e308`,
  })

/** The length of a value as JSON; a whole number beyond 2^53 counts as its digits in quotes. */
const lengthOf = (value: unknown): number =>
  (JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner)) ?? '').length

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0')
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isStorable)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, inner]) => isStorable(name) && isStorable(inner))
}

/** A list in a query string: repeated names, one comma-separated value, or both. */
export const listParameter = <T extends z.ZodType>(item: T, max = ITEMS_MAX) =>
  z.preprocess(
    (value) => {
      if (value === undefined) return undefined
      const given = Array.isArray(value) ? value : [value]
      return given.flatMap((entry) => (typeof entry === 'string' ? entry.split(',') : [entry])).filter((entry) => entry !== '')
    },
    z
      .array(item)
      .max(max, { error: `must have at most ${max} items` })
      .optional(),
  )

export const lastOf = (value: unknown): unknown => (Array.isArray(value) ? value.at(-1) : value)

/** One text in a query string. When the name is repeated, the last one counts. */
export const textParameter = (max = 4096) => z.preprocess(lastOf, text(0, max).optional())

/** A whole number in a query string. */
export const integerParameter = (min: number, max: number) =>
  z.preprocess(
    (value) => {
      const one = lastOf(value)
      return typeof one === 'string' && /^[+-]?\d+$/.test(one) ? Number(one) : one
    },
    z
      .int({ error: `must be a whole number from ${min} to ${max}` })
      .min(min)
      .max(max)
      .optional(),
  )

/** True or false, or 1 or 0, in a query string. */
export const booleanParameter = z.preprocess((value) => {
  const one = lastOf(value)
  const word = typeof one === 'string' ? one.trim().toLowerCase() : one
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : word === '' ? undefined : word
}, z.boolean({ error: 'must be true or false' }).optional())

/** A list in a query string whose items may contain commas: commas in quotes or parentheses do not separate items. */
export const phrasesParameter = () =>
  z.preprocess(
    (value) => {
      if (value === undefined) return undefined
      const given = Array.isArray(value) ? value : [value]
      return given.flatMap((entry) => (typeof entry === 'string' ? phrasesOf(entry) : [entry])).filter((entry) => entry !== '')
    },
    z
      .array(text(0, 4_096))
      .max(PHRASES_MAX, { error: `must have at most ${PHRASES_MAX} items` })
      .optional(),
  )

const PHRASES_MAX = 100

function phrasesOf(line: string): string[] {
  const phrases: string[] = []
  let [start, depth, isQuoted] = [0, 0, false]
  for (let at = 0; at < line.length; at += 1) {
    const mark = line[at]
    if (mark === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (mark === '(') depth += 1
    else if (mark === ')') depth -= 1
    else if (mark === ',' && depth <= 0) {
      phrases.push(line.slice(start, at))
      start = at + 1
    }
  }
  return [...phrases, line.slice(start)].map((phrase) => phrase.trim())
}

/** A 64-bit integer in a response: an exact JSON integer, which clients without 64-bit integers round. */
export const int64 = z
  .custom<number | bigint>((value) => typeof value === 'bigint' || Number.isInteger(value), { error: 'must be a whole number' })
  .meta({ type: 'integer', format: 'int64' })

const INT64_MAX = 2n ** 63n - 1n

/** Such an integer in a request: a JSON integer of any size, or its digits as text. */
export const int64Given = z.preprocess(
  (value) => {
    const one = lastOf(value)
    if (typeof one === 'string' && /^\d{1,19}$/.test(one)) return BigInt(one)
    return typeof one === 'number' && Number.isSafeInteger(one) ? BigInt(one) : one
  },
  z.bigint({ error: 'must be a whole number of at most 63 bits' }).min(0n).max(INT64_MAX),
)

export const Identity = z
  .object({ type: z.enum(['API_KEY_ID', 'USER_ID']), id: uuid })
  .meta({ id: 'Identity', description: 'Who acted: an API key or a user.' })
export type Identity = z.output<typeof Identity>

export const Metadata = z
  .object({
    created_at: ms.optional(),
    created_by: Identity.optional(),
    modified_at: ms.optional(),
    modified_by: Identity.optional(),
    deleted_at: ms.optional(),
    deleted_by: Identity.optional(),
    last_heartbeat_at: ms.optional(),
  })
  .meta({ id: 'Metadata', description: 'When and by whom a record was created and changed; times in epoch milliseconds.' })
export type Metadata = z.output<typeof Metadata>

const TAGS_MAX = 100

export const Tags = mapOf(text(1, 255), TAGS_MAX).meta({ id: 'Tags', description: 'Key/value pairs attached to a record; `{}` when none.' })
export type Tags = z.output<typeof Tags>

export const FailureBody = z
  .object({
    code: z.int().min(400).max(599),
    type: z.string(),
    correlation_id: z.string(),
    details: z.string(),
    errors: z
      .array(
        z.object({
          field: z.string(),
          code: z.string(),
          message: z.string(),
          position: z.int().optional(),
          length: z.int().optional(),
          hint: z.string().optional(),
          fix: z.object({ position: z.int(), length: z.int(), text: z.string() }).optional(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'Error', description: 'The body of every failure; `errors` names the violated rules in machine-readable form.' })
export type FailureBody = z.output<typeof FailureBody>
