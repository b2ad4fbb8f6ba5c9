import { parseFilter as readFilter } from '@dendro/language/filter'
import { parseFormula as readFormula } from '@dendro/language/formula'
import { type Diagnostic, LanguageError, languageError as refusedText } from '@dendro/language/language-error'
import { regexProblem } from '@dendro/language/regex'
import { parseGroups as readGroups, parseOrderBy as readOrderBy, parseSelect as readSelect } from '@dendro/language/select'
import { parseSelector as readSelector } from '@dendro/language/selector'
import { parseTimeRange as readTimeRange } from '@dendro/language/time-range'
import { badRequest, type Failure } from '../kernel/errors.ts'

/** Turns the errors of the query language into 400s. The only place that does. */
const asBadRequest =
  <Args extends unknown[], Read>(read: (...given: Args) => Read) =>
  (...given: Args): Read => {
    try {
      return read(...given)
    } catch (thrown) {
      throw thrown instanceof LanguageError ? failureOf(thrown) : thrown
    }
  }

/** Returns the 400 for a faulty field: one line for people, and its parts in `errors` for programs. */
export const refusal = (field: string, problem: Diagnostic): Failure => failureOf(refusedText(field, problem))

const failureOf = (refused: LanguageError): Failure => badRequest(refused.message, { errors: [refused.problem] })

/** Parses a `where`, including its regular expressions. Throws a 400 with position and reason. */
export const parseFilter = asBadRequest((text: string, field?: string) => readFilter(text, field, { regexProblem }))
export const parseSelect = asBadRequest(readSelect)
export const parseGroups = asBadRequest(readGroups)
export const parseOrderBy = asBadRequest(readOrderBy)
export const parseFormula = asBadRequest(readFormula)
export const parseTimeRange = asBadRequest(readTimeRange)
export const parseSelector = asBadRequest((text: string, field?: string) => {
  try {
    return readSelector(text)
  } catch (thrown) {
    throw thrown instanceof LanguageError && field !== undefined ? refusedText(field, thrown.problem) : thrown
  }
})

/** Refuses an invalid regular expression that is a field of its own. */
export function checkRegex(pattern: string, field: string): void {
  const problem = regexProblem({ text: pattern, position: 0, length: pattern.length }, { pattern, ignoreCase: false })
  if (problem) throw refusal(field, problem)
}
