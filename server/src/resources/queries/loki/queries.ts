import { badField, badRequest } from '../../../kernel/errors.ts'
import { type LabelForm, recordOf, sampleText, statisticsOf, streamsOf } from './answers.ts'
import { evaluate } from './evaluate.ts'
import { LINES_MAX } from './limits.ts'
import { readEntries } from './log-entries.ts'
import { parseLogql } from './logql/parse.ts'
import type { LogqlMetric } from './logql/tree.ts'
import { type LokiRequest, recordRead } from './request.ts'
import { type EvaluationTimes, type LokiSeries, SERIES_MAX, timeAt } from './series.ts'

const LIMIT = 100
const HOUR_MS = 3_600_000

/** Answers a query over a range of time. */
export async function queryRange(request: LokiRequest): Promise<unknown> {
  const { parameters, world } = request
  const expression = parseLogql(parameters.required('query'))
  const range = parameters.range(world.clock.nowMs(), HOUR_MS)
  const limit = parameters.whole('limit', { least: 1, most: LINES_MAX, otherwise: LIMIT })
  const newestFirst = isBackward(parameters.text('direction'))
  const stepMs = parameters.milliseconds('step')
  if (expression.kind !== 'logs') return matrixOf(request, expression, timesOf(range, stepMs))
  if (parameters.text('interval') !== undefined) throw badField('interval', 'is not supported; use limit')
  const entries = await readEntries(request, expression, { ...range, limit, newestFirst })
  const form = formOf(request)
  const stats = statisticsOf(request.cost, entries.length, recordRead(request))
  return success({ resultType: 'streams', ...encodingOf(form), result: await streamsOf(entries, form), stats })
}

/** Answers a metric query at one time. */
export async function queryInstant(request: LokiRequest): Promise<unknown> {
  const { parameters, world } = request
  const expression = parseLogql(parameters.required('query'))
  if (expression.kind === 'logs') throw badRequest('a log query needs a range of time: use query_range')
  const timeMs = msOf(parameters.timeNs('time') ?? BigInt(world.clock.nowMs()) * NS_PER_MS)
  const found = await evaluate(request, expression, { startMs: timeMs, stepMs: HOUR_MS, count: 1 })
  const at = timeMs / MS_PER_S
  const series = found.kind === 'number' ? [] : checked(found.series)
  const stats = statisticsOf(request.cost, series.length, recordRead(request))
  if (found.kind === 'number') return success({ resultType: 'scalar', result: [at, sampleText(found.value)], stats })
  const result = series.flatMap(({ labels, values: [value] }) =>
    value === undefined ? [] : [{ metric: recordOf(labels), value: [at, sampleText(value)] }],
  )
  return success({ resultType: 'vector', result, stats })
}

async function matrixOf(request: LokiRequest, expression: LogqlMetric, times: EvaluationTimes): Promise<unknown> {
  const found = await evaluate(request, expression, times)
  const series =
    found.kind === 'number' ? [{ labels: new Map(), values: Array<number>(times.count).fill(found.value) }] : checked(found.series)
  const result = series.map(({ labels, values }) => ({
    metric: recordOf(labels),
    values: values.flatMap((value, index) => (value === undefined ? [] : [[timeAt(times, index) / MS_PER_S, sampleText(value)]])),
  }))
  const present = result.filter(({ values }) => values.length > 0)
  return success({ resultType: 'matrix', result: present, stats: statisticsOf(request.cost, present.length, recordRead(request)) })
}

/** The times of a request for a range with a step. */
export const evaluationTimesOf = ({ parameters, world }: LokiRequest): EvaluationTimes =>
  timesOf(parameters.range(world.clock.nowMs(), HOUR_MS), parameters.milliseconds('step'))

function checked(series: readonly LokiSeries[]): readonly LokiSeries[] {
  if (series.length <= SERIES_MAX) return series
  throw badRequest(`the query has ${series.length} series; an answer has at most ${SERIES_MAX}, so add up some with sum by (…)`)
}

const NS_PER_MS = 1_000_000n
const MS_PER_S = 1_000
const POINTS_MAX = 11_000
const POINTS = 250
const msOf = (ns: bigint): number => Number(ns / NS_PER_MS)

function timesOf({ startNs, endNs }: { startNs: bigint; endNs: bigint }, givenStepMs: number | undefined): EvaluationTimes {
  const [startMs, endMs] = [msOf(startNs), msOf(endNs)]
  const stepMs = givenStepMs ?? Math.max(1, Math.floor((endMs - startMs) / MS_PER_S / POINTS)) * MS_PER_S
  const count = Math.floor((endMs - startMs) / stepMs) + 1
  if (count > POINTS_MAX) throw badField('step', `is too small: a series has at most ${POINTS_MAX} values`)
  return { startMs, stepMs, count }
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
