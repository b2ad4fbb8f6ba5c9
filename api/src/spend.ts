import { z } from 'zod'
import { Retention } from './datasets.ts'
import { endpoint } from './endpoint.ts'
import { IngestAction } from './ingest-actions.ts'
import { rangeParameters } from './search.ts'
import { Identity, int64, integerParameter, lastOf, listParameter, Metadata, ms, uuid } from './values.ts'

/** What spend can be divided by. */
const spendDimensions = ['dataset', 'key', 'protocol', 'pattern', 'field', 'sender'] as const
export type SpendDimension = (typeof spendDimensions)[number]

/** The maximum number of slices of spend over time. */
const SLICES_MAX = 200
const GROUPS_MAX = 200
/** Prices and budgets are amounts of money or gigabytes that a double holds with cents. */
const AMOUNT_MAX = 1_000_000_000_000
const CURRENCY = /^[A-Z]{3}$/

const price = z.number().min(0).max(AMOUNT_MAX)

const SpendPrice = z
  .object({
    currency: z
      .string()
      .regex(CURRENCY, { error: 'must be three capital letters, such as EUR' })
      .meta({ examples: ['EUR'] }),
    per_gb: price.default(0).describe('The price of each gigabyte that arrives.'),
    per_gb_day: price.default(0).describe('The price of keeping a gigabyte for a day, for each day of the retention.'),
  })
  .meta({ id: 'SpendPrice', description: 'What stored lines cost. A gigabyte is 10^9 bytes of lines.' })
export type SpendPrice = z.output<typeof SpendPrice>

const SpendBudget = z
  .object({
    amount: z.number().min(0).max(AMOUNT_MAX),
    unit: z.enum(['GB', 'MONEY']).describe('`MONEY` is in the currency of the price.'),
  })
  .meta({ id: 'SpendBudget', description: 'What may arrive, or be spent, in a calendar month in UTC.' })
export type SpendBudget = z.output<typeof SpendBudget>

const SpendSettings = z
  .object({ price: SpendPrice.optional(), budget: SpendBudget.optional(), metadata: Metadata })
  .meta({ id: 'SpendSettings', description: 'The price and the budget of the organization.' })
export type SpendSettings = z.output<typeof SpendSettings>

const cost = z.number().describe('In the currency of the price; absent without a price.')

const SpendSum = z
  .object({
    events: int64.optional().describe('Absent for estimates.'),
    bytes: int64.describe('The bytes of the stored lines that arrived in the range.'),
    gb_days: z.number().describe('Their gigabytes times the days of their retention. Kept without end counts as 365 days.'),
    cost: cost.optional(),
    bytes_over_time: z.array(int64).describe('The bytes of each slice, oldest first.'),
  })
  .meta({ id: 'SpendSum' })
export type SpendSum = z.output<typeof SpendSum>

const share = z.number().describe('The share of the bytes, from 0 to 1.')

const SpendGroup = SpendSum.extend({
  name: z
    .string()
    .describe(
      'The full name of the dataset, the id of the key or user, the protocol, the id of the pattern, the path of the field, or the program and address of the sender.',
    ),
  share,
  log_id: uuid.optional().describe('The dataset, or that of the pattern or field.'),
  identity: Identity.optional().describe('Absent for events without a known sender.'),
  protocol: z.string().optional(),
  pattern: z.string().optional(),
  field: z
    .string()
    .optional()
    .describe('`@text`: lines that are no JSON objects. `@long`: lines beyond 16 KiB, whose fields are not measured.'),
  sender: z.string().optional(),
}).meta({ id: 'SpendGroup' })
export type SpendGroup = z.output<typeof SpendGroup>

const rangeOf = (amount: string) =>
  z
    .object({ low: z.number(), expected: z.number(), high: z.number() })
    .describe(`${amount} In four of five months it lies between low and high.`)

const SpendDay = z
  .object({
    start_time: ms,
    bytes: int64.describe('What has arrived.'),
    cost: cost.optional(),
    forecast_bytes: z.number().optional().describe('What is expected to arrive besides; absent for past days.'),
  })
  .meta({ id: 'SpendDay' })
export type SpendDay = z.output<typeof SpendDay>

const SpendSaving = z
  .object({
    kind: z.enum(['SAMPLE_PATTERN', 'REMOVE_FIELD', 'DROP_DEBUG', 'SHORTEN_RETENTION']),
    log_id: uuid,
    dataset: z.string().describe('The full name of the dataset.'),
    reason: z.string(),
    bytes_saved: int64.describe('What would not have been stored in the range; 0 for a shorter retention.'),
    gb_days_saved: z.number().describe('The gigabytes times the days for which they would not have been kept.'),
    cost_saved: cost.optional(),
    pattern: z.string().optional().describe('The id of the pattern of which one of ten lines would be kept.'),
    field: z.string().optional(),
    rule: z
      .object({ name: z.string(), from: z.array(uuid), where: z.string(), action: IngestAction })
      .optional()
      .describe('An ingest rule for `POST /ingest-rules`; absent for retentions.'),
    retention: Retention.optional().describe('A retention for `POST /retention-rules`.'),
    link: z.string().describe('The page where it is done, a path of this service.'),
  })
  .meta({ id: 'SpendSaving', description: 'A way to save. Two of one dataset may save the same bytes.' })
export type SpendSaving = z.output<typeof SpendSaving>

/** How a month stands against its budget. */
const budgetStates = ['WITHIN', 'AT_RISK', 'LIKELY_EXCEEDED', 'EXCEEDED'] as const
export type BudgetState = (typeof budgetStates)[number]

const SpendMonth = z
  .object({
    start_time: ms,
    end_time: ms,
    bytes: int64.describe('What has arrived in this month.'),
    cost: cost.optional(),
    forecast: z
      .object({
        bytes: rangeOf('Of the whole month.'),
        cost: rangeOf('Of the whole month, in the currency of the price.').optional(),
        history_days: z.int().describe('The number of full days that it is based on, at most 56.'),
      })
      .optional()
      .describe('Absent with fewer than three full days of history.'),
    budget: SpendBudget.extend({
      used: z.number().describe('What is used, in the unit of the budget.'),
      state: z
        .enum(budgetStates)
        .describe('`AT_RISK`: the upper end of the forecast is above the budget. `LIKELY_EXCEEDED`: the expected value is.'),
    }).optional(),
    price: SpendPrice.optional(),
    is_whole: z.boolean().describe('false when policies hide datasets from the caller: their bytes are not counted here.'),
    is_exact: z.boolean().describe('false while events of a process that crashed are recounted.'),
    days: z.array(SpendDay).describe('The days of the month in UTC.'),
  })
  .meta({ id: 'SpendMonth' })
export type SpendMonth = z.output<typeof SpendMonth>

const dimension: z.ZodType = z.enum(spendDimensions)

export const spend = {
  get: endpoint({
    method: 'GET',
    path: '/spend',
    permission: 'usage_read',
    tier: 'D',
    summary: 'Get what arrived and what it costs, by dataset, key, protocol, pattern, field or sender, over time',
    description:
      'Answered from counts, without reading events. Groups add up to the total. Patterns, fields and senders are estimates from samples of arriving lines, by full days in UTC. By time of arrival, rounded to full minutes; the default range is `Last 30 days`.',
    query: z.object({
      ...rangeParameters,
      by: z.preprocess((value) => lastOf(value) || undefined, dimension.default('dataset')) as z.ZodType<
        SpendDimension,
        string | undefined
      >,
      from: listParameter(uuid).describe('Dataset ids; every dataset that the caller may see when absent.'),
      limit: integerParameter(1, GROUPS_MAX).default(20).describe('Groups at most, besides the rest.'),
      num_of_slices: integerParameter(1, SLICES_MAX).describe('By default minutes, hours, days or months, whichever are few.'),
    }),
    reply: z.object({
      start_time: ms,
      end_time: ms,
      slice_ms: ms.describe('The length of a slice, rounded where slices do not divide the range.'),
      by: z.enum(spendDimensions),
      price: SpendPrice.optional(),
      total: SpendSum,
      is_exact: z.boolean().describe('false when slices do not begin on full minutes, or recounted events have unknown bytes.'),
      other: SpendSum.extend({ share })
        .meta({ id: 'OtherSpend' })
        .optional()
        .describe('The sum of all groups that are not listed; absent when there are none.'),
      is_estimate: z
        .boolean()
        .describe('true for patterns, fields and senders: one line of 64 KiB is sampled, in proportion to its length.'),
      groups: z.array(SpendGroup).describe('The largest first. With `other` they add up to the total.'),
    }),
    fails: [503],
  }),
  budget: endpoint({
    method: 'GET',
    path: '/spend/budget',
    permission: 'usage_read',
    tier: 'D',
    summary: 'Get what this month has used of the budget, and what it is expected to use',
    description:
      'The forecast follows the trend and the days of the week of the last 56 days. Its range shows how far days were from that; it cannot know of changes to come.',
    reply: SpendMonth,
    fails: [503],
  }),
  savings: endpoint({
    method: 'GET',
    path: '/spend/savings',
    permission: 'usage_read',
    tier: 'D',
    summary: 'List the ways to save most, each with a rule or a retention',
    description:
      'Looks at what arrived in the last 30 days, by estimates for patterns and fields, and at what searches, exports and monitors read.',
    query: z.object({ limit: integerParameter(1, 50).default(10) }),
    reply: z.object({
      start_time: ms,
      end_time: ms,
      price: SpendPrice.optional(),
      savings: z.array(SpendSaving).describe('Those that save most first, at most three of a dataset.'),
    }),
    fails: [503],
  }),
  settings: endpoint({
    method: 'GET',
    path: '/spend/settings',
    permission: 'usage_read',
    tier: 'D',
    summary: 'Get the price and the budget of the organization',
    reply: SpendSettings,
  }),
  set: endpoint({
    method: 'PUT',
    path: '/spend/settings',
    permission: 'limits_write',
    tier: 'D',
    summary: 'Set the price and the budget of the organization; what is absent is removed',
    description: 'Nothing is refused when a budget is exceeded; that is what limits are for.',
    body: z.object({ price: SpendPrice.optional(), budget: SpendBudget.optional() }),
    reply: SpendSettings,
  }),
}
