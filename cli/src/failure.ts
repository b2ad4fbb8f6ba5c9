import { ApiFailure, type FailureBody, NoResponse } from '@dendro/api'
import { escapeControls, widthOf } from './escape.ts'

/** A wrong command line; it exits with status 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** Changes that a dry run would make; it exits with status 3. */
export class PendingChanges extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PendingChanges'
  }
}

/** A refused request, with the texts that were sent. */
class RefusedRequest extends Error {
  readonly failure: ApiFailure
  readonly sent: object

  constructor(failure: ApiFailure, sent: object) {
    super(failure.message, { cause: failure })
    this.name = 'RefusedRequest'
    this.failure = failure
    this.sent = sent
  }
}

export const OK = 0
export const FAILED = 1
export const MISUSED = 2
const PENDING = 3
export const INTERRUPTED = 130

type FieldProblem = NonNullable<FailureBody['errors']>[number]

/** Awaits a response. If the service refuses the request, the message shows the place of the error in the texts that were sent. */
export async function explained<T>(sent: object, response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (thrown) {
    throw thrown instanceof ApiFailure ? new RefusedRequest(thrown, sent) : thrown
  }
}

/** Returns the message with the correlation id, the place and the fix of a wrong text, and the exit status. */
export function describeFailure(thrown: unknown): { lines: string[]; status: number } {
  if (thrown instanceof UsageError) return { lines: [escapeControls(thrown.message, 'lines')], status: MISUSED }
  if (thrown instanceof PendingChanges) return { lines: [thrown.message], status: PENDING }
  if (thrown instanceof RefusedRequest) {
    const places = (thrown.failure.errors ?? []).flatMap((problem) => placeOf(problem, thrown.sent))
    return { lines: [sentenceOf(thrown.failure), ...places], status: FAILED }
  }
  if (thrown instanceof ApiFailure) return { lines: [sentenceOf(thrown)], status: FAILED }
  if (thrown instanceof NoResponse) return { lines: [`${escapeControls(thrown.message)}; check DENDRO_URL`], status: FAILED }
  if (thrown instanceof Error && thrown.name === 'AbortError') return { lines: [], status: INTERRUPTED }
  return { lines: escapeControls(thrown instanceof Error ? thrown.message : String(thrown), 'lines').split('\n'), status: FAILED }
}

function sentenceOf({ status, type, details, correlation_id }: ApiFailure): string {
  const kind = [String(status), type].filter((word) => word !== '').join(' ')
  const id = correlation_id === undefined ? '' : `, correlation id ${correlation_id}`
  return escapeControls(`${details} (${kind}${id})`)
}

/** Points at the error in the text, and shows the corrected text. */
export function placeOf({ field, position, length = 1, fix }: FieldProblem, sent: object): string[] {
  const text = textAt(sent, field)
  if (text === undefined || position === undefined) return []
  const start = text.lastIndexOf('\n', position - 1) + 1
  const nextEnd = text.indexOf('\n', position)
  const end = nextEnd < 0 ? text.length : nextEnd
  const markEnd = Math.min(end, position + length)
  const before = escapeControls(text.slice(start, position))
  const marked = escapeControls(text.slice(position, markEnd))
  const line = before + marked + escapeControls(text.slice(markEnd, end))
  const caret = ' '.repeat(widthOf(before)) + '^'.repeat(Math.max(1, widthOf(marked)))
  const corrected = fix && text.slice(0, fix.position) + fix.text + text.slice(fix.position + fix.length)
  return [`  ${line}`, `  ${caret}`, ...(corrected === undefined ? [] : [`  try: ${escapeControls(corrected)}`])]
}

/** The text of a field such as `where` or `search_details.where` or `select[0]`. */
function textAt(sent: object, field: string): string | undefined {
  const steps = field.split(/[.[\]]+/).filter((step) => step !== '')
  let value: unknown = sent
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[step]
  }
  return typeof value === 'string' ? value : undefined
}
