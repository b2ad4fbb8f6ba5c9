import { ClickHouseError } from '@clickhouse/client'
import { unavailableFailure } from '../../events/store/away.ts'
import { badRequest, Failure, unavailable } from '../../kernel/errors.ts'
import type { QueryBudget } from '../query.ts'

/** The group keys of a statement and the maximum number of groups. */
export type GroupLimit = { readonly groupsMax: number; readonly groups: readonly string[] }

const TIMEOUT = '159'
const TOO_MANY_ROWS = '158'
const TOO_MANY_BYTES = '307'
/** The result, or what was spilled to disk. */
const TOO_LARGE = '396'
const SPILL_MESSAGE = 'Limit for temporary files size exceeded'
const NOT_ENOUGH_SPACE = '243'
/** Among others when temporary data no longer fits on the disk. */
const CANNOT_WRITE = '75'
const MEMORY_LIMIT_EXCEEDED = '241'
/** The message when a query exceeded its own limit, as opposed to the total limit. */
const QUERY_MEMORY_MESSAGE = 'Query memory limit exceeded'
/** The message when the store ended the query with the most memory, because the total limit was exceeded. */
const SELECTED_TO_STOP_MESSAGE = 'Query was selected to stop'
/** What the store says of a regular expression that its library does not take, among others because its program is too large. */
const CANNOT_COMPILE_REGEXP = '427'
const TOO_MANY_QUERIES = '202'
/** A statement fails like this on purpose, where it cannot decide about a line (text-search/in-json-lines.ts). */
const THROWN_BY_STATEMENT = '395'

/** A statement met a line about which values do not decide. It can be sent again in a form that rebuilds such lines. */
export class UndecidedLine extends Error {}

/** Distinguishes a query that is too expensive from a store in trouble. Messages of the store go to the log only. */
export function failureOf(cause: unknown, budget: QueryBudget, groupLimit: GroupLimit | undefined): unknown {
  const away = unavailableFailure(cause)
  if (away || !(cause instanceof ClickHouseError)) return away ?? cause
  switch (cause.code) {
    case TIMEOUT:
      return tooSlow(budget, cause)
    case TOO_MANY_ROWS:
      if (groupLimit && cause.message.includes('GROUP BY')) return tooManyGroups(groupLimit, cause)
      return tooExpensive(`more than ${budget.rows} events`, cause)
    case TOO_MANY_BYTES:
      return tooExpensive(`more than ${budget.bytes} bytes`, cause)
    case TOO_LARGE:
      if (cause.message.includes(SPILL_MESSAGE)) return spilledTooMuch(cause, budget)
      return badRequest('the result is too large; request fewer events or keys', { cause })
    case MEMORY_LIMIT_EXCEEDED:
      if (cause.message.includes(QUERY_MEMORY_MESSAGE)) return tooExpensive('more data than the memory limit of one query allows', cause)
      if (cause.message.includes(SELECTED_TO_STOP_MESSAGE)) return tooLarge(cause)
      return unavailable('the event store is out of memory for queries; try again later', { cause })
    case NOT_ENOUGH_SPACE:
    case CANNOT_WRITE:
      return unavailable('the event store has no disk space left for this query', { cause })
    case CANNOT_COMPILE_REGEXP:
      return badRegex(cause)
    case THROWN_BY_STATEMENT:
      return new UndecidedLine('a statement met a line that it cannot decide about', { cause })
    case TOO_MANY_QUERIES:
      return unavailable('the event store has too many queries running; try again later', { cause })
    default:
      return new Error('a statement failed in the event store', { cause })
  }
}

function badRegex(cause: unknown): Failure {
  const message = 'the regular expression is too large for the event store; use fewer repetitions and alternatives'
  return badRequest(message, { cause, errors: [{ field: 'where', code: 'BAD_REGEX', message }] })
}

/** The failure of a statement whose text is so many times as long as it may be. */
export function tooLong(times: number): Failure {
  const message = `the conditions are ${times.toFixed(1)} times as long as one query may have; use fewer, or put values into one IN (…)`
  return badRequest(message, { errors: [{ field: 'where', code: 'TOO_MANY_CONDITIONS', message }] })
}

const tooExpensive = (what: string, cause: unknown): Failure => refusedQuery(`would read ${what}`, cause)

export const tooSlow = ({ seconds }: QueryBudget, cause?: unknown): Failure => refusedQuery(`takes more than ${seconds} s`, cause)

const refusedQuery = (why: string, cause: unknown): Failure =>
  badRequest(`this query ${why}; narrow the time range, name fewer datasets, group by fewer values, or add a condition on a rare value`, {
    cause,
  })

/** The store names the limit that was exceeded: that of the query, or that of all queries together. */
function spilledTooMuch(cause: ClickHouseError, { spillBytes }: QueryBudget): Failure {
  if (cause.message.includes(` / ${spillBytes} bytes`)) return tooExpensive('more data than one query may sort and group on disk', cause)
  return new Failure(429, 'the queries that run use all the disk space for sorting and grouping; narrow this one, or try again later', {
    cause,
    headers: { 'retry-after': '5' },
  })
}

const tooLarge = (cause: unknown): Failure =>
  new Failure(429, 'the event store ran out of memory and ended this query, which used the most; narrow it, or try again later', {
    cause,
    headers: { 'retry-after': '5' },
  })

const isTooManyGroups = (thrown: unknown): boolean =>
  thrown instanceof Failure && thrown.errors?.some(({ code }) => code === TOO_MANY_GROUPS) === true

/** Catches the failure of a statement that found too many groups. */
export function undefinedIfTooMany(thrown: unknown): undefined {
  if (!isTooManyGroups(thrown)) throw thrown
}

const TOO_MANY_GROUPS = 'TOO_MANY_GROUPS'

function tooManyGroups({ groups, groupsMax }: GroupLimit, cause: unknown): Failure {
  const message = `${groups.map((key) => `"${key.slice(0, 100)}"`).join(' and ')} have more than ${groupsMax} different values; group by a key with fewer values, or narrow the time range`
  return badRequest(message, { cause, errors: [{ field: 'groups', code: TOO_MANY_GROUPS, message }] })
}
