import { z } from 'zod'
import { badRequest, type Failure, type FieldProblem } from '../kernel/errors.ts'
import { parseLeniently } from './lenient-parse.ts'

const PROBLEMS_SHOWN_MAX = 5

/** Parses one part of a request. Invalid input becomes a 400 that names each field and the violated rule. */
export function check<S extends z.ZodType>(schema: S, value: unknown, whole: string): z.output<S> {
  const result = parseLeniently(schema, value)
  if (result.success) return result.data
  throw describe(result.error.issues, whole)
}

function describe(issues: readonly z.core.$ZodIssue[], whole: string): Failure {
  const problems = eachOnce(typesFirst(issues.flatMap((issue) => problemsOf(issue, whole))))
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX)
  const more = problems.length > shown.length ? `; and ${problems.length - shown.length} more` : ''
  return badRequest(shown.map((problem) => `${problem.field} ${problem.message}`).join('; ') + more, { errors: shown })
}

/** Keeps the last problem per field and rule: a number beyond the safe integers also exceeds the bound of its field. */
const eachOnce = (problems: readonly FieldProblem[]): FieldProblem[] => [
  ...new Map(problems.map((problem) => [`${problem.field}\n${problem.code}`, problem])).values(),
]

/** Leaves out what a value of another type violates besides: a text is no list, whatever its length. */
function typesFirst(problems: readonly FieldProblem[]): FieldProblem[] {
  const mistyped = new Set(problems.filter(({ code }) => code === INVALID_TYPE).map(({ field }) => field))
  return problems.filter(({ field, code }) => code === INVALID_TYPE || !mistyped.has(field))
}

const INVALID_TYPE = 'INVALID_TYPE'

function problemsOf(issue: z.core.$ZodIssue, whole: string): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key.slice(0, 100)], whole),
      code: 'UNKNOWN_FIELD',
      message: 'is not a field of this object',
    }))
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = issue.errors.reduce((best, branch) => (isNearer(branch, best) ? branch : best))
    if (deepest(nearest) > 0) return nearest.flatMap((inner) => problemsOf({ ...inner, path: [...issue.path, ...inner.path] }, whole))
  }
  // A schema with a message of its own has it for every rule, also for the one that a value must be there.
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined
  const message = isMissing && !issue.message.startsWith(REQUIRED) ? REQUIRED : issue.message
  return [{ field: fieldName(issue.path, whole), code: codeOf(issue), message }]
}

const REQUIRED = 'is required'

/** The code of the violated rule. A number out of bounds or not whole has the same code as in the query language. */
function codeOf(issue: z.core.$ZodIssue): string {
  const isBound = (issue.code === 'too_small' || issue.code === 'too_big') && NUMBERS.includes(issue.origin)
  return isBound || (issue.code === 'invalid_type' && issue.expected === 'int') ? 'OUT_OF_RANGE' : issue.code.toUpperCase()
}

const NUMBERS: readonly string[] = ['number', 'int', 'bigint']

/** The form that fits deeper is meant, and of two the one with fewer problems. */
const isNearer = (one: readonly z.core.$ZodIssue[], other: readonly z.core.$ZodIssue[]): boolean =>
  deepest(one) > deepest(other) || (deepest(one) === deepest(other) && one.length < other.length)

const deepest = (branch: readonly z.core.$ZodIssue[]): number => Math.max(0, ...branch.map((issue) => issue.path.length))

const fieldName = (path: readonly PropertyKey[], whole: string): string => (path.length === 0 ? whole : path.map(String).join('.'))

/** The message for a violated rule, unless the schema has its own message. */
function ruleOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return REQUIRED
      return `must be ${kindOf(issue.expected)}`
    case 'invalid_value':
      return issue.input === undefined
        ? `is required, one of ${issue.values.join(', ')}`
        : `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`
    case 'too_small':
      return `must ${issue.origin === 'string' || issue.origin === 'array' ? 'have' : 'be'} at least ${issue.minimum}${unitOf(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${issue.origin === 'string' || issue.origin === 'array' ? 'have' : 'be'} at most ${issue.maximum}${unitOf(issue.origin, issue.maximum)}`
    case 'invalid_format':
      return `must be ${formats.get(issue.format) ?? `a valid ${issue.format}`}`
    case 'invalid_key':
      return 'is not an allowed name'
    case 'invalid_union':
      if (issue.input === undefined) return REQUIRED
      return formsOf(issue) ?? kindsOf(issue) ?? 'matches none of the allowed forms'
    default:
      return undefined
  }
}

const formats: ReadonlyMap<string, string> = new Map([
  ['email', 'an e-mail address'],
  ['guid', 'a UUID'],
  ['uuid', 'a UUID'],
])

/** The forms between which a field of an object decides; undefined for others. */
function formsOf(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const { discriminator, options, input } = issue as { discriminator?: string; options?: readonly unknown[]; input?: object }
  if (discriminator === undefined || !options?.length) return undefined
  const isGiven = input !== undefined && Object.hasOwn(input, discriminator)
  return `${isGiven ? 'must be' : 'is required,'} one of ${options.join(', ')}`
}

/** The kinds of values of which a field takes several, where the value is none of them. */
function kindsOf({ errors }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const kinds = (errors ?? []).map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? kindOf(first.expected) : undefined,
  )
  return kinds.length > 0 && !kinds.includes(undefined) ? `must be ${[...new Set(kinds)].join(' or ')}` : undefined
}

function kindOf(expected: string): string {
  const kinds = new Map(
    Object.entries({
      string: 'text',
      number: 'a number',
      int: 'a whole number',
      boolean: 'true or false',
      array: 'a list',
      object: 'an object',
      record: 'an object',
    }),
  )
  return kinds.get(expected) ?? `of type ${expected}`
}

function unitOf(origin: string, count: number | bigint): string {
  const noun = origin === 'string' ? ' character' : origin === 'array' ? ' item' : undefined
  return noun === undefined ? '' : `${noun}${Number(count) === 1 ? '' : 's'}`
}

z.config({ customError: ruleOf })
