import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { integerParameter, list, Metadata, ms, text, uuid } from './values.ts'

const MINUTES_OF_DAY = 1_440
const FROM_MAX = 1_000

const minuteOfDay = z.int().min(0).max(MINUTES_OF_DAY)
const timestamp = integerParameter(0, Number.MAX_SAFE_INTEGER)
const Weekday = z.enum(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'])
const StaticRange = z.object({ from: ms, to: ms })

export const Downtime = z
  .object({
    id: uuid,
    name: text(1, 255),
    description: z.string(),
    from: z.array(uuid).describe('Logs whose monitors are covered, and monitors that are covered directly.'),
    suppress_recovery_alert: z.boolean(),
    alert_strategy: z.enum(['DELAY', 'DROP']),
    static_time_range: StaticRange.optional(),
    dynamic_time_range: z
      .object({ from_minute_of_day: minuteOfDay, to_minute_of_day: minuteOfDay, invert: z.boolean(), repeat_days: z.array(Weekday) })
      .optional()
      .describe('Local time of the organization; a range that ends before it begins spans midnight.'),
    metadata: Metadata,
  })
  .meta({ id: 'Downtime', description: 'A time range in which monitors send no notifications.' })
export type Downtime = z.output<typeof Downtime>

const NewDowntime = z
  .object({
    name: text(1, 255),
    description: text(0, 4000).default(''),
    from: list(uuid, { min: 1, max: FROM_MAX }),
    suppress_recovery_alert: z.boolean().default(false),
    alert_strategy: z.enum(['DELAY', 'DROP']).default('DELAY'),
    static_time_range: StaticRange.refine(({ from, to }) => from < to, { error: 'must be later than from', path: ['to'] }).optional(),
    dynamic_time_range: z
      .object({
        from_minute_of_day: minuteOfDay,
        to_minute_of_day: minuteOfDay,
        invert: z.boolean().default(false),
        repeat_days: list(Weekday, { max: 7 }).default([]),
      })
      .optional(),
  })
  .refine((body) => (body.static_time_range === undefined) !== (body.dynamic_time_range === undefined), {
    error: 'or dynamic_time_range is needed, and not both',
    path: ['static_time_range'],
  })
  .meta({
    examples: [
      {
        name: 'Release',
        description: 'The checkout is released',
        from: ['7d9f0c52-3c1e-4c5a-9a43-2f6f2c1b8e10'],
        static_time_range: { from: 1_767_225_600_000, to: 1_767_229_200_000 },
      },
    ],
  })

export const downtimes = {
  list: endpoint({
    method: 'GET',
    path: '/monitors/downtimes',
    permission: 'monitors_read',
    tier: 'S',
    summary: 'List the downtimes of the organization',
    query: z.object({
      from_ts: timestamp.describe('Only downtimes that end after this time, and recurring ones.'),
      to_ts: timestamp.describe('Only downtimes that begin before this time, and recurring ones.'),
      ...pageParameters,
      search: pageParameters.search.describe('Only downtimes whose names and descriptions contain each of these words.'),
      sort: sortParameter(['phase']).describe(
        'The order of the list; `newest` when absent. `phase` has those in progress first, then planned, recurring and past ones, each by name.',
      ),
    }),
    reply: z.object({ downtimes: z.array(Downtime), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/monitors/downtimes',
    permission: 'monitors_write',
    tier: 'C',
    summary: 'Plan a downtime',
    body: NewDowntime,
    status: 201,
    reply: Downtime,
  }),
  get: endpoint({
    method: 'GET',
    path: '/monitors/downtimes/{downtimeId}',
    permission: 'monitors_read',
    tier: 'X',
    summary: 'One downtime',
    reply: Downtime,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/monitors/downtimes/{downtimeId}',
    permission: 'monitors_write',
    tier: 'C',
    summary: 'Replace a downtime',
    body: NewDowntime,
    reply: Downtime,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/monitors/downtimes/{downtimeId}',
    permission: 'monitors_delete',
    tier: 'C',
    summary: 'Delete a downtime; held-back notifications are sent as if it had ended',
    fails: [404],
  }),
}
