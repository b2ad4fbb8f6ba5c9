import type { SearchResponse, Series } from '@dendro/api'
import { z } from 'zod'
import { exploreLink } from '../app-links.ts'
import { counted, verb } from '../counted.ts'
import { groupKeys } from '../field-keys.ts'
import { measureMatching } from '../measure-matching.ts'
import { Cost, Group, rangeOutput, Value, warningsOutput } from '../output-schema.ts'
import { rangeArguments, rangeFacts, sourceArguments, timeText, whereArgument } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'
import { costOf, warningsOf } from './search-tools.ts'

const GROUP_CHARS = 120
const DIGITS = 6

/** The endpoint selects what these tools measure, and callers know its name. */
const MEASURE: ReadonlyMap<string, string> = new Map([['select', 'measure']])

const Facts = { ...rangeOutput, value: Value, events_total: z.int(), is_exact: z.boolean(), cost: Cost }

const measure = z
  .string()
  .min(1)
  .max(1_024)
  .default('count(*)')
  .describe('One aggregate: `count(*)`, `avg(duration_ms)`, `p95(duration_ms)`, `sum(bytes)`, `min(…)`, `max(…)`, `unique(user)`.')
const groups = z
  .array(z.string().min(1).max(256))
  .max(3)
  .optional()
  .describe(
    'Fields to group by. `@dataset`, `@collection`, `@status` (error, warn, info) and `@pattern` always exist. Double quotes around a name with a comma.',
  )

const count = readingTool({
  name: 'count',
  title: 'Count and aggregate',
  description: 'Counts matching events or computes one aggregate, in total or by groups, largest first. The cheapest first step.',
  permissions: ['search_read'],
  argumentNames: MEASURE,
  otherNames: MEASURE,
  input: z.strictObject({
    measure,
    groups,
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    limit: z.int().min(1).max(500).default(20).describe('Groups.'),
  }),
  output: {
    facts: Facts,
    data: {
      rows: z.array(z.strictObject({ group: Group, value: Value, events: z.int().optional() })).optional(),
      ...warningsOutput,
    },
  },
  run: async (args, context) => {
    const { sources, bounds, found } = await measureMatching(args, 1, context)
    const rows = leavesOf(found.groups_series).map(({ group, series }) => ({
      group: cutAll(group, (text) => context.cuts.text(text, GROUP_CHARS)),
      value: measuredValue(series, args.measure),
      ...(isCount(args.measure) ? {} : { events: Number(series.count) }),
    }))
    const total = Number(found.totals.count)
    const value = wholeValue(found)
    const inAll = isCount(args.measure)
      ? `${counted(total, 'event')} ${verb(total, 'matches', 'match')}`
      : `The value over ${counted(total, 'event')} is ${value ?? 'not defined'}`
    const groupsTotal = Number(found.totals.total_groups ?? rows.length)
    return {
      summary: args.groups?.length ? `${inAll}, in ${counted(groupsTotal, 'group')}.` : `${inAll}.`,
      link: exploreLink(context, { datasets: sources.ids, where: args.where, bounds, ...linkOfMeasure(args, 'table') }),
      facts: { ...rangeFacts(bounds), value, events_total: total, is_exact: found.is_exact, cost: costOf(found) },
      data: {
        ...(args.groups?.length ? { rows: context.cuts.rows(rows, args.limit, 'raise limit, or add a filter') } : {}),
        ...warningsOf(found),
      },
    }
  },
})

const chart = readingTool({
  name: 'chart',
  title: 'Chart over time',
  description:
    'Computes a time series of one aggregate, in total or for the largest groups. Values stand at `start` + n × `step_s`; null where no event has one.',
  permissions: ['search_read'],
  argumentNames: MEASURE,
  otherNames: MEASURE,
  input: z.strictObject({
    measure,
    groups,
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    points: z.int().min(2).max(200).default(24),
    limit: z.int().min(1).max(20).default(5).describe('Groups.'),
  }),
  output: {
    facts: { ...Facts, start: z.string(), step_s: z.number(), values: z.array(Value) },
    data: { series: z.array(z.strictObject({ group: Group, value: Value, values: z.array(Value) })).optional(), ...warningsOutput },
  },
  run: async (args, context) => {
    const { sources, bounds, found } = await measureMatching(args, args.points, context)
    const whole = found.totals.timeseries ?? []
    const values = whole.map((slice) => measuredValue(slice, args.measure))
    const startMs = Number(whole[0]?.['@timestamp'] ?? bounds.fromMs)
    const stepMs = whole.length > 1 ? Number(whole[1]?.['@timestamp']) - startMs : bounds.toMs - bounds.fromMs
    const series = leavesOf(found.groups_series).map(({ group, series }) => ({
      group: cutAll(group, (text) => context.cuts.text(text, GROUP_CHARS)),
      value: measuredValue(series, args.measure),
      values: series.timeseries.map((slice) => measuredValue(slice, args.measure)),
    }))
    const total = Number(found.totals.count)
    return {
      summary:
        total === 0
          ? 'No event matches.'
          : `${counted(total, 'event')} ${verb(total, 'matches', 'match')}. ${extremesOf(values, startMs, stepMs)}`,
      link: exploreLink(context, { datasets: sources.ids, where: args.where, bounds, ...linkOfMeasure(args, 'chart') }),
      facts: {
        ...rangeFacts(bounds),
        start: timeText(startMs),
        step_s: stepMs / 1_000,
        value: wholeValue(found),
        events_total: total,
        values,
        is_exact: found.is_exact,
        cost: costOf(found),
      },
      data: {
        ...(args.groups?.length ? { series: context.cuts.rows(series, args.limit, 'raise limit, or add a filter') } : {}),
        ...warningsOf(found),
      },
    }
  },
})

const isCount = (measure: string): boolean => /^count\(\*\)$/i.test(measure.trim())

const linkOfMeasure = ({ groups, measure }: { groups?: string[] | undefined; measure: string }, tab: 'table' | 'chart') => ({
  tab: groups?.length ? tab : undefined,
  by: groups && groupKeys(groups),
  fn: isCount(measure) ? undefined : measure,
})

/** Says which slices have the highest and the lowest value. Slices without a value have neither. */
function extremesOf(values: readonly (number | null)[], startMs: number, stepMs: number): string {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return 'None of them has a value.'
  const highest = Math.max(...known)
  return `The highest value, ${highest}, begins at ${timeText(startMs + values.indexOf(highest) * stepMs)}; the lowest is ${Math.min(...known)}.`
}

/** Aggregates that are 0 without events. All others have no value then. */
const addsUp = (measure: string): boolean => /^\s*(?:count|sum|rate|unique|uniq|count_distinct)\b/i.test(measure)

const measuredValue = ({ value, no_value }: Pick<Series, 'value' | 'no_value'>, measure: string): number | null =>
  no_value && !addsUp(measure) ? null : rounded(Number(value))

/** The value over the whole range. Totals have it by the text of the aggregate, which the service may normalize. */
function wholeValue({ totals, metadata }: SearchResponse): number | null {
  const [name = ''] = metadata.select
  const value = totals[name] ?? (isCount(name) ? totals.count : addsUp(name) ? 0 : null)
  const number = typeof value === 'string' ? Number(value) : value
  return (typeof number === 'number' || typeof number === 'bigint') && Number.isFinite(Number(number)) ? rounded(Number(number)) : null
}

type Leaf = { group: Record<string, string>; series: Series }

/** The innermost groups with the values of all levels, largest first. */
function leavesOf(levels: readonly Series[], outer: Record<string, string> = {}): Leaf[] {
  const leaves = levels.flatMap((series) => {
    const group = series.key === undefined ? outer : { ...outer, [series.key]: series.name }
    return series.groups_series?.length ? leavesOf(series.groups_series as Series[], group) : [{ group, series }]
  })
  return leaves.toSorted((one, other) => Number(other.series.value) - Number(one.series.value))
}

const cutAll = (group: Record<string, string>, cut: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(group).map(([key, value]) => [key, cut(value)]))

/** Rounds to six significant digits; whole numbers stay. */
const rounded = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS)))

export const countTools: readonly AgentTool[] = [count, chart]
