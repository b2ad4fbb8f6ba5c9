import { z } from 'zod'
import { Delta, Series, TimeSlice, Warning } from './event-shapes.ts'
import { list, text, textList, uuid } from './values.ts'

/** The queries and formulas of metric definitions, time series and monitors (API reference 2.9). */

export const timeFunctions = ['sum', 'avg', 'average', 'min', 'max', 'mean', 'count', 'median', 'p75', 'p90', 'p95', 'p99'] as const
const reduceTo = z.enum(['avg', 'sum', 'min', 'max'])

export const QUERIES_MAX = 6
export const FORMULAS_MAX = 5
const GROUPS_MAX = 5

export const MetricQuery = z
  .object({
    id: uuid.optional().describe('Given by the service.'),
    name: text(1, 255).describe('Name in formulas and responses; unique.'),
    select: textList(text(1, 1_024), { min: 1, max: 1 }).describe('One aggregate such as `count(*)`, or one key.'),
    from: list(uuid, { max: 500 }).optional().describe('Dataset ids.'),
    from_expr: text(0, 4_096).optional().describe('A dataset selector; takes precedence over `from`.'),
    where: text(0, 32_768).default('').describe('The filter; every event when absent.'),
    groups: textList(text(1, 256), { max: GROUPS_MAX }).optional(),
    aggregation: list(
      z.object({
        time: z.enum(timeFunctions).default('sum').describe('Aggregation of a key in each slice.'),
        reduce_to: reduceTo.optional().describe('Aggregation of the slices to one value; for a key, `avg` when absent.'),
      }),
      { max: 1 },
    ).optional(),
  })
  .meta({ id: 'MetricQuery' })
export type MetricQuery = z.output<typeof MetricQuery>

export const MetricFormula = z
  .object({
    name: text(1, 100),
    expression: text(1, 100).describe('A formula over query names, such as `errors / total * 100`.'),
    aggregation: z
      .object({ reduce_to: reduceTo })
      .optional()
      .describe('Aggregation of the slices to one value; when absent, the formula over the whole range.'),
  })
  .meta({ id: 'MetricFormula' })
export type MetricFormula = z.output<typeof MetricFormula>

export const queriesAndFormulas = {
  queries: list(MetricQuery, { min: 1, max: QUERIES_MAX }),
  formulas: list(MetricFormula, { max: FORMULAS_MAX }).optional(),
}

export const MetricTimeseries = z
  .object({
    name: z.string(),
    queries: z.array(MetricQuery),
    formulas: z.array(MetricFormula).optional(),
    aggregates: z.array(z.object({ function: z.string(), value: z.number().nullable() })),
    is_exact: z.boolean(),
    series: z.array(TimeSlice),
    groups_series: z.array(Series),
    delta: Delta.optional(),
    warnings: z.array(Warning).optional(),
  })
  .meta({ id: 'MetricTimeseries', description: 'The result of one query or formula, by time slice and group.' })
export type MetricTimeseries = z.output<typeof MetricTimeseries>
