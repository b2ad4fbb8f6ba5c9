import { type ConfigFields, isFields, type Path, type Problem } from './kind.ts'

type Issue = {
  code?: string | undefined
  path?: PropertyKey[] | undefined
  message?: string | undefined
  input?: unknown
  expected?: unknown
  values?: unknown
  errors?: Issue[][] | undefined
  keys?: string[] | undefined
  /** The member by which an object is one of several forms, and its values. */
  discriminator?: string | undefined
  options?: readonly unknown[] | undefined
}
type Schema = {
  safeParse(
    value: unknown,
    settings: { error: (issue: Issue) => string | undefined },
  ): { success: true; data: unknown } | { success: false; error: { issues: unknown } }
}

/** Members whose content is stored unchanged. */
const OPAQUE = new Set(['aux', 'context'])

const UNKNOWN = 'is not a field of this object'

/** Texts that say something when they are empty, because their default is another one. */
const EMPTY_TEXTS = new Set(['replacement', 'path_template', 'time_range'])

/**
 * Validates fields by a schema of the contract. The result has its defaults, and no empty members. Members that the schema does not know are problems:
 * the contract ignores them, a file must not.
 */
export function checkFields(schema: unknown, fields: ConfigFields): { fields: ConfigFields; problems: readonly Problem[] } {
  const parsed = (schema as Schema).safeParse(fields, { error: messageOf })
  if (!parsed.success) return { fields: withoutEmpty(fields), problems: (parsed.error.issues as Issue[]).flatMap(problemsOf) }
  const output = parsed.data as ConfigFields
  return { fields: withoutEmpty(output), problems: unknownMembers(fields, output, []) }
}

function problemsOf(issue: Issue): Problem[] {
  const path = (issue.path ?? []).filter((step) => typeof step !== 'symbol')
  if (issue.code === 'invalid_union' && issue.errors && issue.errors.length > 0) {
    const nearest = issue.errors.reduce((best, branch) => (deepest(branch) > deepest(best) ? branch : best))
    if (deepest(nearest) > 0) return nearest.flatMap((inner) => problemsOf({ ...inner, path: [...path, ...(inner.path ?? [])] }))
  }
  if (issue.code === 'unrecognized_keys' && issue.keys) return issue.keys.map((key) => ({ path: [...path, key], message: UNKNOWN }))
  return [{ path, message: issue.message ?? 'is invalid' }]
}

const deepest = (branch: readonly Issue[]): number => Math.max(0, ...branch.map(({ path = [] }) => path.length))

const kinds: ReadonlyMap<unknown, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['record', 'a mapping'],
])

/** The message for a violated rule, unless the schema has its own message. */
function messageOf({ code, input, expected, values, discriminator, options }: Issue): string | undefined {
  if (input === undefined && (code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union')) return 'is required'
  if (code === 'invalid_type') return `must be ${kinds.get(expected) ?? `of type ${String(expected)}`}`
  if (code === 'invalid_value' && Array.isArray(values)) return `must be one of ${values.join(', ')}`
  if (code === 'invalid_union' && discriminator !== undefined && options?.length) {
    const isGiven = isFields(input) && Object.hasOwn(input, discriminator)
    return `${isGiven ? 'must be' : 'is required,'} one of ${options.join(', ')}`
  }
  return code === 'invalid_union' ? 'matches none of the allowed forms' : undefined
}

function unknownMembers(input: unknown, output: unknown, path: Path): Problem[] {
  if (Array.isArray(input) && Array.isArray(output) && input.length === output.length)
    return input.flatMap((item, at) => unknownMembers(item, output[at], [...path, at]))
  if (!isFields(input) || !isFields(output)) return []
  return Object.entries(input).flatMap(([name, value]) => {
    if (Object.hasOwn(output, name)) return unknownMembers(value, output[name], [...path, name])
    return value === undefined ? [] : [{ path: [...path, name], message: UNKNOWN }]
  })
}

/** Removes members that say nothing: absent, null and empty ones are nearly always the same in a file. */
export function withoutEmpty(fields: ConfigFields): ConfigFields {
  const entries = Object.entries(fields).map(([name, value]): [string, unknown] => [name, OPAQUE.has(name) ? value : pruned(value)])
  return Object.fromEntries(entries.filter(([name, value]) => !isEmpty(value) || (value === '' && EMPTY_TEXTS.has(name))))
}

const pruned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(pruned)
  return isFields(value) ? withoutEmpty(value) : value
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
