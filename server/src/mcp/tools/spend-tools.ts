import { contract, type SpendGroup, type SpendPrice } from '@dendro/api'
import { z } from 'zod'
import { appLink } from '../app-links.ts'
import { counted } from '../counted.ts'
import type { Cuts } from '../cuts.ts'
import { short } from '../durations.ts'
import { rangeOutput } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall, sourcesOf } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'

const NAME_CHARS = 120
const TEXT_CHARS = 200
const SAVINGS = 10
const DEFAULT_RANGE = 'Last 30 days'

const { by } = contract.spend.get.reply.shape
const bytes = z.number()
const cost = z.number().optional()
const amounts = z.strictObject({ low: z.number(), expected: z.number(), high: z.number() })

const spend = readingTool({
  name: 'spend',
  title: 'Spend',
  description:
    'Shows what arriving data costs: the largest datasets, keys, protocols, patterns, fields or senders, how this month stands against its budget, and the ways to save most. Costs are in `currency`; without a price only bytes are known. Patterns, fields and senders are estimates.',
  permissions: ['usage_read'],
  input: z.strictObject({
    by: by.default('dataset').describe('What the spend is divided by.'),
    ...rangeArguments,
    time_range: rangeArguments.time_range.describe(`Such as \`Last 7 days\`; \`${DEFAULT_RANGE}\` when absent.`),
    limit: z.int().min(1).max(100).default(15).describe('Groups.'),
  }),
  output: {
    facts: {
      ...rangeOutput,
      bytes_total: bytes,
      gb_days_total: z.number(),
      cost_total: cost,
      currency: z.string().optional(),
      is_estimate: z.boolean(),
      month: z.strictObject({
        from: z.string(),
        to: z.string(),
        bytes,
        cost,
        is_whole: z.boolean(),
        forecast_bytes: amounts.optional(),
        forecast_cost: amounts.optional(),
        budget: z.strictObject({ amount: z.number(), unit: z.string(), used: z.number(), state: z.string() }).optional(),
      }),
    },
    data: {
      groups: z.array(
        z.strictObject({
          name: z.string(),
          dataset: z.string().optional(),
          bytes,
          share: z.number(),
          gb_days: z.number(),
          cost,
          events: z.number().optional(),
        }),
      ),
      savings: z.array(
        z.strictObject({
          kind: z.string(),
          dataset: z.string(),
          reason: z.string(),
          bytes_saved: bytes,
          gb_days_saved: z.number(),
          cost_saved: cost,
          pattern: z.string().optional(),
          field: z.string().optional(),
          page: z.string(),
        }),
      ),
    },
  },
  run: async ({ by: dimension, limit, ...given }, context) => {
    const isRanged = given.time_range !== undefined || given.from_ts !== undefined || given.to_ts !== undefined
    const bounds = rangeOfCall(context, isRanged ? given : { time_range: DEFAULT_RANGE })
    const query = { by: dimension, from_ts: bounds.fromMs, to_ts: bounds.toMs, limit, num_of_slices: 1 }
    const found = await context.call(contract.spend.get, { query })
    const month = await context.call(contract.spend.budget, {})
    const { savings } = await context.call(contract.spend.savings, { query: { limit: SAVINGS } })
    const { cuts } = context
    const isPart = dimension === 'pattern' || dimension === 'field'
    const { nameOf } = await sourcesOf(context, {})
    const { total } = found
    return {
      summary: `${counted(Number(total.bytes), 'byte')} arrived in the range${costText(total.cost, found.price)}. ${budgetText(month.budget)}${counted(savings.length, 'way')} to save.`,
      link: appLink(context, 'spend', { by: dimension === 'dataset' ? undefined : dimension, f: bounds.fromMs, t: bounds.toMs }),
      facts: {
        ...rangeFacts(bounds),
        bytes_total: Number(total.bytes),
        gb_days_total: short(total.gb_days),
        ...costOf('cost_total', total.cost),
        ...(found.price ? { currency: found.price.currency } : {}),
        is_estimate: found.is_estimate,
        month: {
          from: new Date(month.start_time).toISOString(),
          to: new Date(month.end_time).toISOString(),
          bytes: Number(month.bytes),
          ...costOf('cost', month.cost),
          is_whole: month.is_whole,
          ...(month.forecast ? { forecast_bytes: roundedAmounts(month.forecast.bytes) } : {}),
          ...(month.forecast?.cost ? { forecast_cost: roundedAmounts(month.forecast.cost) } : {}),
          ...(month.budget ? { budget: { ...month.budget, used: short(month.budget.used) } } : {}),
        },
      },
      data: {
        groups: cuts.rows(
          found.groups.map((group) => groupRow(group, isPart && group.log_id ? nameOf(group.log_id) : undefined, cuts)),
          limit,
          'raise limit',
        ),
        savings: cuts.rows(
          savings.map((one) => ({
            kind: one.kind,
            dataset: cuts.text(one.dataset, NAME_CHARS),
            reason: cuts.text(one.reason, TEXT_CHARS),
            bytes_saved: Number(one.bytes_saved),
            gb_days_saved: short(one.gb_days_saved),
            ...costOf('cost_saved', one.cost_saved),
            ...(one.pattern === undefined ? {} : { pattern: one.pattern }),
            ...(one.field === undefined ? {} : { field: cuts.text(one.field, NAME_CHARS) }),
            page: cuts.text(`${context.actor.facts.baseUrl}${one.link}`, 2_000),
          })),
          SAVINGS,
          'the page Spend shows all',
        ),
      },
    }
  },
})

/** Patterns and fields are those of a dataset. */
const groupRow = (group: SpendGroup, dataset: string | undefined, cuts: Cuts) => ({
  name: cuts.text(group.name, NAME_CHARS),
  ...(dataset === undefined ? {} : { dataset: cuts.text(dataset, NAME_CHARS) }),
  bytes: Number(group.bytes),
  share: short(group.share),
  gb_days: short(group.gb_days),
  ...costOf('cost', group.cost),
  ...(group.events === undefined ? {} : { events: Number(group.events) }),
})

const costOf = <Name extends string>(name: Name, amount: number | undefined): { [name in Name]?: number } =>
  (amount === undefined ? {} : { [name]: short(amount) }) as { [name in Name]?: number }

const costText = (amount: number | undefined, price: SpendPrice | undefined): string =>
  amount === undefined || !price ? '' : ` and cost ${short(amount)} ${price.currency}`

const roundedAmounts = ({ low, expected, high }: { low: number; expected: number; high: number }) => ({
  low: short(low),
  expected: short(expected),
  high: short(high),
})

const STATES = {
  WITHIN: 'within its budget',
  AT_RISK: 'at risk of exceeding its budget',
  LIKELY_EXCEEDED: 'likely to exceed its budget',
  EXCEEDED: 'beyond its budget',
} as const

const budgetText = (budget: { state: keyof typeof STATES } | undefined): string => (budget ? `This month is ${STATES[budget.state]}. ` : '')

export const spendTools: readonly AgentTool[] = [spend]
