import { badField, badRequest } from '../../../kernel/errors.ts'
import { type LabelForm, statisticsOf, streamsOf } from './answers.ts'
import { readEntries } from './log-entries.ts'
import { parseLogql } from './logql/parse.ts'
import { type LokiRequest, recordRead } from './request.ts'

const LIMIT = 100
const LIMIT_MAX = 5_000
const HOUR_MS = 3_600_000

/** Answers a query over a range of time. */
export async function queryRange(request: LokiRequest): Promise<unknown> {
  const { parameters, world } = request
  const expression = parseLogql(parameters.required('query'))
  const range = parameters.range(world.clock.nowMs(), HOUR_MS)
  const limit = parameters.whole('limit', { least: 1, most: LIMIT_MAX, otherwise: LIMIT })
  const newestFirst = isBackward(parameters.text('direction'))
  if (expression.kind !== 'logs') throw badRequest('metric queries are not supported')
  if (parameters.text('interval') !== undefined) throw badField('interval', 'is not supported; use limit')
  const entries = await readEntries(request, expression, { ...range, limit, newestFirst })
  const form = formOf(request)
  const stats = statisticsOf(request.cost, entries.length, recordRead(request))
  return success({ resultType: 'streams', result: streamsOf(entries, form), ...encodingOf(form), stats })
}

/** Answers a query at one time. */
export async function queryInstant({ parameters }: LokiRequest): Promise<unknown> {
  const expression = parseLogql(parameters.required('query'))
  if (expression.kind === 'logs') {
    throw badRequest('log queries are not supported as an instant query; use query_range')
  }
  throw badRequest('metric queries are not supported')
}

const success = (data: unknown): unknown => ({ status: 'success', data })

function isBackward(direction: string | undefined): boolean {
  const lower = direction?.toLowerCase() ?? 'backward'
  if (lower !== 'backward' && lower !== 'forward') throw badField('direction', 'must be forward or backward')
  return lower === 'backward'
}

const CATEGORIZE = 'categorize-labels'
const FLAGS_HEADER = 'x-loki-response-encoding-flags'

const formOf = ({ head }: LokiRequest): LabelForm =>
  head.headers[FLAGS_HEADER]?.split(',').some((flag) => flag.trim() === CATEGORIZE) ? 'categorized' : 'joined'

const encodingOf = (form: LabelForm) => (form === 'categorized' ? { encodingFlags: [CATEGORIZE] } : {})
