import { z } from 'zod'
import { int64, ms, uuid } from './values.ts'

/** Response shapes of the endpoints that read events (API reference 2.4.6). */

export const Link = z
  .object({ rel: z.enum(['next', 'prev', 'first', 'status', 'context']), href: z.string() })
  .meta({ id: 'Link', description: 'An absolute URL and what it leads to.' })
export type Link = z.output<typeof Link>

/** A map in responses; request bodies use bounded maps. */
const texts = z.record(z.string(), z.string())

export const Event = z
  .object({
    '@raw': z.string().nullable().describe('The line as received; null unless selected.'),
    '@time': z.string().describe('YYYY-MM-DD HH:MM:SS.mmm UTC'),
    '@status': z.enum(['info', 'warn', 'error']),
    message_kvs: texts.describe('The selected keys of the message, each as it was written.'),
    attributes: texts.describe('The selected attributes; names begin with `$`.'),
    metadata: z.object({
      service_id: uuid.describe('The dataset.'),
      timestamp: ms,
      sequence: int64,
      context: z.string().describe('The URL of the events around this one.'),
    }),
    links: z.array(Link),
  })
  .meta({ id: 'Event' })
export type Event = z.output<typeof Event>

export const ResultRow = z
  .looseObject({
    '@time': z.string().optional(),
    '@timestamp': z.string().optional().describe('Epoch milliseconds as text.'),
    '@sequence': z.string().optional(),
    '@raw': z.string().optional(),
    '@context': z.string().optional(),
    group: z.string().optional(),
    count: int64.optional(),
    metadata: z
      .object({
        logId: uuid,
        timestamp: ms,
        sequence: int64,
        origin: z.string(),
        context: z.string(),
        selectedKeys: texts,
        unselectedKeys: texts,
      })
      .optional(),
    links: z.array(Link).optional(),
  })
  .meta({
    id: 'ResultRow',
    description:
      'The items of `select` by their text, for an event, a slice or a group. Deprecated duplicate of `events` and `groups_series`.',
  })
export type ResultRow = z.output<typeof ResultRow>

export const Quantiles = z
  .object({
    min: z.number().optional(),
    p25: z.number().optional(),
    p50: z.number().optional(),
    p75: z.number().optional(),
    p90: z.number().optional(),
    p95: z.number().optional(),
    p99: z.number().optional(),
    p999: z.number().optional(),
    max: z.number().optional(),
  })
  .meta({ id: 'Quantiles', description: 'Only for percentiles; `{}` for every other statistic.' })

const NoValue = z
  .literal(true)
  .optional()
  .describe(
    'Where no event has a value, as in a slice without events: `value` is 0 then, and says nothing about an average, a percentile, a minimum or a maximum.',
  )

export const TimeSlice = z
  .object({
    '@timestamp': z.string().describe('The start of the slice: epoch milliseconds as text.'),
    count: int64,
    value: z.number(),
    no_value: NoValue,
    quantiles: Quantiles,
    '@time': z.string().optional(),
  })
  .meta({ id: 'TimeSlice' })
export type TimeSlice = z.output<typeof TimeSlice>

const Aggregate = z.object({ function: z.string(), value: z.number().nullable() })

export const Delta = z
  .object({
    start_time: ms,
    end_time: ms,
    total_count: int64,
    total_value: z.number(),
    delta_value: z.number().describe('Current minus previous.'),
    delta_factor: z.number().describe('The difference divided by the previous value; 0 when that is 0.'),
    aggregates: z.array(Aggregate),
    changes: z.array(z.object({ function: z.string(), value: z.number(), factor: z.number().optional() })),
  })
  .meta({ id: 'Delta', description: 'The comparison with an earlier period, given by `start_time` and `end_time`.' })
export type Delta = z.output<typeof Delta>

export const Series = z
  .object({
    key: z.string().optional().describe('The key that this level groups by.'),
    name: z.string().describe('The value of the group; empty for the total.'),
    count: int64,
    stat: z.string(),
    value: z.number(),
    no_value: NoValue,
    quantiles: Quantiles.optional(),
    series_resolution_ms: z
      .int()
      .describe('The length of a slice; rounded where slices do not divide the range, and then differ by a millisecond.'),
    timeseries: z.array(TimeSlice),
    aggregates: z.array(Aggregate).optional().describe('All aggregates, if there is more than one.'),
    get groups_series() {
      return z.array(Series).optional()
    },
    delta: Delta.optional(),
  })
  .meta({ id: 'Series' })
export type Series = z.output<typeof Series>

export const AggregateGroupRow = z
  .looseObject({
    group: z.string().describe('The values of the group in brackets.'),
    count: int64,
    stat: z.string(),
    value: z.number(),
    timeseries: z.array(TimeSlice),
  })
  .meta({
    id: 'GroupRow',
    description: 'A group with every aggregate by its text. Deprecated duplicate of the top level of `groups_series`.',
  })
export type AggregateGroupRow = z.output<typeof AggregateGroupRow>

export const Totals = z
  .looseObject({
    count: int64.describe('Matching events.'),
    timeseries: z.array(TimeSlice).optional(),
    total_groups: int64.optional(),
    retrieved_groups: z.int().optional(),
  })
  .meta({ id: 'Totals', description: 'Over the whole range: the matching events, and every aggregate by its text.' })
export type Totals = z.output<typeof Totals>

export const Explain = z
  .object({
    'Execution time (millis)': z.string(),
    'Bytes searched': z.string().optional(),
    'Matching events': z.string().optional(),
    'Approximate bytes in time range': z.string().optional(),
  })
  .meta({ id: 'Explain' })
export type Explain = z.output<typeof Explain>

export const Warning = z
  .object({
    field: z.string(),
    code: z.string(),
    message: z.string(),
    position: z.int().optional(),
    length: z.int().optional(),
    hint: z.string().optional(),
    fix: z.object({ position: z.int(), length: z.int(), text: z.string() }).optional(),
  })
  .meta({ id: 'Warning', description: 'A valid part of the query that probably does not do what the caller meant.' })
