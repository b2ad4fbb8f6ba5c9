import { z } from 'zod'
import { badRequest, type Failure, type FieldProblem } from '../kernel/errors.ts'
import { parseLeniently } from './lenient-parse.ts'

const PROBLEMS_SHOWN_MAX = 5

/** Parses one part of a request. Invalid input becomes a 400 that names each field and the violated rule. */
export function check<S extends z.ZodType>(schema: S, value: unknown, whole: string): z.output<S> {
  const result = parseLeniently(schema, value)
  if (result.success) return result.data
  throw describe(result.error.issues, value, whole)
}

function describe(issues: readonly z.core.$ZodIssue[], given: unknown, whole: string): Failure {
  const named = issues.flatMap((issue) =>
    problemsOf(issue.code === 'invalid_type' && isAbsent(given, issue.path) ? required(issue) : issue, whole),
  )
  const ofWrongType = new Set(named.filter(({ code }) => code === 'INVALID_TYPE').map(({ field }) => field))
  const problems = eachOnce(named.filter(({ field, code }) => !isSize(code) || !ofWrongType.has(field)))
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX)
  const more = problems.length > shown.length ? `; and ${problems.length - shown.length} more` : ''
  return badRequest(shown.map((problem) => `${problem.field} ${problem.message}`).join('; ') + more, { errors: shown })
}

/** The same problem of a field that was not given: a schema with a message of its own says only which form it wants. */
const required = (issue: z.core.$ZodIssue): z.core.$ZodIssue => ({ ...issue, message: 'is required' })

function isAbsent(given: unknown, path: readonly PropertyKey[]): boolean {
  let inner: unknown = given
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null) return false
    if (!Object.hasOwn(inner, key)) return true
    const parent = inner
    inner = (inner as Record<PropertyKey, unknown>)[key]
    // An item of a list is never absent.
    if (inner === null) return !Array.isArray(parent)
  }
  return inner === undefined
}

/** A text has a length too, where a list is wanted. */
const isSize = (code: string): boolean => code === 'TOO_SMALL' || code === 'TOO_BIG'

/** Keeps the last problem per field and rule: a number beyond the safe integers also exceeds the bound of its field. */
const eachOnce = (problems: readonly FieldProblem[]): FieldProblem[] => [
  ...new Map(problems.map((problem) => [`${problem.field}\n${problem.code}`, problem])).values(),
]

function problemsOf(issue: z.core.$ZodIssue, whole: string): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key.slice(0, 100)], whole),
      code: 'UNKNOWN_FIELD',
      message: 'is not a field of this object',
    }))
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = issue.errors.reduce((best, branch) => (deepest(branch) > deepest(best) ? branch : best))
    if (deepest(nearest) > 0) return nearest.flatMap((inner) => problemsOf({ ...inner, path: [...issue.path, ...inner.path] }, whole))
  }
  return [{ field: fieldName(issue.path, whole), code: codeOf(issue), message: issue.message }]
}

/** The code of the violated rule. A number out of bounds or not whole has the same code as in the query language. */
function codeOf(issue: z.core.$ZodIssue): string {
  const isBound = (issue.code === 'too_small' || issue.code === 'too_big') && NUMBERS.includes(issue.origin)
  return isBound || (issue.code === 'invalid_type' && issue.expected === 'int') ? 'OUT_OF_RANGE' : issue.code.toUpperCase()
}

const NUMBERS: readonly string[] = ['number', 'int', 'bigint']

const deepest = (branch: readonly z.core.$ZodIssue[]): number => Math.max(0, ...branch.map((issue) => issue.path.length))

const fieldName = (path: readonly PropertyKey[], whole: string): string => (path.length === 0 ? whole : path.map(String).join('.'))

/** The message for a violated rule, unless the schema has its own message. */
function ruleOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${kindOf(issue.expected)}`
    case 'invalid_value':
      return issue.input === undefined
        ? `is required, one of ${issue.values.join(', ')}`
        : `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`
    case 'too_small':
      return `must ${issue.origin === 'string' || issue.origin === 'array' ? 'have' : 'be'} at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'too_big':
      return `must ${issue.origin === 'string' || issue.origin === 'array' ? 'have' : 'be'} at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'invalid_format':
      return `must be ${issue.format === 'email' ? 'an e-mail address' : `a valid ${issue.format}`}`
    case 'invalid_key':
      return 'is not an allowed name'
    case 'invalid_union':
      if (issue.input === undefined) return 'is required'
      return formsOf(issue) ?? 'matches none of the allowed forms'
    default:
      return undefined
  }
}

/** The forms between which a field of an object decides; undefined for others. */
function formsOf(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const { discriminator, options, input } = issue as { discriminator?: string; options?: readonly unknown[]; input?: object }
  if (discriminator === undefined || !options?.length) return undefined
  const isGiven = input !== undefined && Object.hasOwn(input, discriminator)
  return `${isGiven ? 'must be' : 'is required,'} one of ${options.join(', ')}`
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

const unitOf = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' items' : '')

z.config({ customError: ruleOf })
