import { STATUS_CODES } from 'node:http'

/** One violated rule in machine-readable form: field, rule, position. */
export type FieldProblem = {
  field: string
  code: string
  message: string
  position?: number
  length?: number
  hint?: string
  fix?: { position: number; length: number; text: string }
}

type FailureOptions = { cause?: unknown; headers?: Record<string, string>; errors?: readonly FieldProblem[] }

/** An error that the caller can act on; `cause` is for the log only. Any other thrown value is a bug and answers 500. */
export class Failure extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  readonly errors: readonly FieldProblem[] | undefined

  constructor(status: number, details: string, options: FailureOptions = {}) {
    super(details, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.status = status
    this.headers = options.headers ?? {}
    this.errors = options.errors
  }

  get type(): string {
    return reasonPhrase(this.status)
  }
}

/** The `type` field of the error body. */
export const reasonPhrase = (status: number): string => STATUS_CODES[status] ?? 'Unknown Error'

export const badRequest = (details: string, options?: FailureOptions): Failure => new Failure(400, details, options)

/** 400 for one field; `details` reads "<field> <rule>". */
export const badField = (field: string, rule: string, code = 'INVALID'): Failure =>
  new Failure(400, `${field} ${rule}`, { errors: [{ field, code, message: rule }] })

export const unauthenticated = (details = 'a valid API key or bearer token is required'): Failure =>
  new Failure(401, details, { headers: { 'www-authenticate': 'Bearer' } })

export const forbidden = (details: string): Failure => new Failure(403, details)

export const notFound = (noun: string, id?: string): Failure =>
  new Failure(404, id === undefined ? `no such ${noun}` : `no ${noun} with id ${id.slice(0, 100)}`)

export const conflict = (details: string): Failure => new Failure(409, details)

export const gone = (details: string): Failure => new Failure(410, details)

/** Ends work for a caller who has disconnected. Nobody reads it. */
export const callerGone = new Failure(499, 'the caller left before the answer')

export const notBuilt = (details: string): Failure => new Failure(501, details)

/** 503 for temporary problems of the service. Shippers retry 503 and drop data on 500. */
export const unavailable = (details: string, options: { cause?: unknown; retryAfterS?: number } = {}): Failure =>
  new Failure(503, details, { cause: options.cause, headers: { 'retry-after': String(options.retryAfterS ?? 2) } })
