import { parseFilter as readFilter } from '@dendro/language/filter'
import { parseFormula as readFormula } from '@dendro/language/formula'
import { type Problem, Refused, refusal as refusedText } from '@dendro/language/refusal'
import { regexProblem } from '@dendro/language/regex'
import { parseGroups as readGroups, parseOrderBy as readOrderBy, parseSelect as readSelect } from '@dendro/language/select'
import { parseSelector as readSelector } from '@dendro/language/selector'
import { parseTimeRange as readTimeRange } from '@dendro/language/time-range'
import { badRequest, type Failure } from '../kernel/errors.ts'

/** answering makes a 400 of what the language refuses; it is the one place that does. */
const answering =
  <Given extends unknown[], Read>(read: (...given: Given) => Read) =>
  (...given: Given): Read => {
    try {
      return read(...given)
    } catch (thrown) {
      throw thrown instanceof Refused ? failureOf(thrown) : thrown
    }
  }

/** refusal is the 400 for a text of a request: one line for people, the same in parts for programs. */
export const refusal = (field: string, problem: Problem): Failure => failureOf(refusedText(field, problem))

const failureOf = (refused: Refused): Failure => badRequest(refused.message, { errors: [refused.problem] })

/** parseFilter reads a `where`, its regular expressions too; what is no filter is a 400 that says where and why. */
export const parseFilter = answering((text: string, field?: string) => readFilter(text, field, { regexProblem }))
export const parseSelect = answering(readSelect)
export const parseGroups = answering(readGroups)
export const parseOrderBy = answering(readOrderBy)
export const parseFormula = answering(readFormula)
export const parseTimeRange = answering(readTimeRange)
export const parseSelector = answering((text: string) => readSelector(text))
