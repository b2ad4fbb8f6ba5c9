import { contract, type PatternRow } from '@dendro/api'
import { z } from 'zod'
import type { TimeBounds } from '../../query/bounds.ts'
import { exploreLink } from '../app-links.ts'
import { counted, verb } from '../counted.ts'
import { rangeOutput, Span } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall, type Sources, sourceArguments, sourcesOf, timeText, whereArgument } from '../sources.ts'
import { type AgentTool, readingTool, type ToolContext } from '../tool.ts'

const HOUR_MS = 3_600_000
/** A list of patterns ends here; a pattern beyond it may exist all the same. */
const LISTED_MAX = 1_000
const CANDIDATES_MAX = 200

const Patterns = z.array(z.strictObject({ pattern: z.string(), text: z.string(), events: z.int(), dataset: z.string() }))

const patterns = readingTool({
  name: 'patterns',
  title: 'Message patterns',
  description:
    "Groups matching events by the pattern of their message, most frequent first; `<*>` stands for a variable part. The best overview of unknown logs. A filter for one pattern is `@pattern = '<id>'`.",
  permissions: ['search_read'],
  input: z.strictObject({
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    limit: z.int().min(1).max(200).default(20),
  }),
  output: { facts: { ...rangeOutput, patterns_total: z.int(), events_total: z.int() }, data: { patterns: Patterns } },
  run: async (args, context) => {
    const sources = await sourcesOf(context, args)
    const bounds = rangeOfCall(context, args)
    const found = await findPatterns(context, { sources, where: args.where, bounds })
    const events = found.reduce((sum, { count }) => sum + Number(count), 0)
    return {
      summary: `${found.length === LISTED_MAX ? `${LISTED_MAX} or more patterns` : counted(found.length, 'pattern')} in ${counted(events, 'event')}.`,
      link: exploreLink(context, { datasets: sources.ids, where: args.where, bounds, tab: 'patterns' }),
      facts: { ...rangeFacts(bounds), patterns_total: found.length, events_total: events },
      data: {
        patterns: context.cuts.rows(
          found.map((row) => patternRow(row, sources, context)),
          args.limit,
          'raise limit, or add a filter such as `level = error`',
        ),
      },
    }
  },
})

const newPatterns = readingTool({
  name: 'new_patterns',
  title: 'New patterns',
  description:
    'Compares the patterns of a range with those of an earlier range: which appeared, and which vanished. Good after a deployment or at the start of an incident.',
  permissions: ['search_read'],
  input: z.strictObject({
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    baseline_hours: z
      .number()
      .min(0.25)
      .max(720)
      .default(24)
      .describe('The length of the earlier range in hours, which ends where the range begins.'),
    limit: z.int().min(1).max(100).default(15).describe('Patterns of each kind.'),
  }),
  output: {
    facts: { ...rangeOutput, earlier: Span, appeared_total: z.int(), vanished_total: z.int() },
    data: { appeared: Patterns, vanished: Patterns },
  },
  run: async (args, context) => {
    const sources = await sourcesOf(context, args)
    const bounds = rangeOfCall(context, args)
    const earlier = { fromMs: Math.max(0, bounds.fromMs - args.baseline_hours * HOUR_MS), toMs: bounds.fromMs }
    const now = await findPatterns(context, { sources, where: args.where, bounds })
    const before = await findPatterns(context, { sources, where: args.where, bounds: earlier })
    const query = { sources, where: args.where }
    const appeared = await missingIn(now, before, { ...query, bounds: earlier }, context)
    const vanished = await missingIn(before, now, { ...query, bounds }, context)
    const rowsOf = (rows: readonly PatternRow[]) =>
      context.cuts.rows(
        rows.map((row) => patternRow(row, sources, context)),
        args.limit,
        'raise limit, or add a filter',
      )
    return {
      summary: `${counted(appeared.length, 'pattern')} appeared since ${timeText(bounds.fromMs)} and ${vanished.length} vanished, compared with the ${args.baseline_hours === 1 ? 'hour' : `${args.baseline_hours} hours`} before.${before.length === 0 ? ' The earlier range has no events, so every pattern is new.' : ''}`,
      link: exploreLink(context, { datasets: sources.ids, where: args.where, bounds, tab: 'patterns' }),
      facts: {
        ...rangeFacts(bounds),
        earlier: { from: timeText(earlier.fromMs), to: timeText(earlier.toMs) },
        appeared_total: appeared.length,
        vanished_total: vanished.length,
      },
      data: { appeared: rowsOf(appeared), vanished: rowsOf(vanished) },
    }
  },
})

const patternValues = readingTool({
  name: 'pattern_values',
  title: 'Values in a pattern',
  description: 'Counts the most frequent values in place of the variable parts of one pattern.',
  permissions: ['search_read'],
  input: z.strictObject({
    pattern: z
      .string()
      .regex(/^[\da-f]{16}$/, { error: 'must be the id of a pattern: 16 hex digits' })
      .describe('The id of a pattern, from patterns.'),
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    limit: z.int().min(1).max(50).default(5).describe('Values of each variable part.'),
  }),
  output: {
    facts: { ...rangeOutput, events_total: z.int() },
    data: {
      text: z.string(),
      parts: z.array(
        z.strictObject({
          kind: z.string(),
          distinct: z.int(),
          values: z.array(z.strictObject({ value: z.string(), count: z.int() })),
        }),
      ),
    },
  },
  run: async (args, context) => {
    const sources = await sourcesOf(context, args)
    const bounds = rangeOfCall(context, args)
    const search_details = detailsOf({ sources, where: args.where, bounds })
    const { text, count, placeholders } = await context.call(contract.patterns.values, {
      body: { id: args.pattern, search_details, limit: args.limit },
    })
    const where = [args.where?.trim() ? `(${args.where})` : '', `@pattern = '${args.pattern}'`].filter(Boolean).join(' AND ')
    return {
      summary: `${counted(count, 'event')} ${verb(count, 'has', 'have')} this pattern, which has ${counted(placeholders.length, 'variable part')}.`,
      link: exploreLink(context, { datasets: sources.ids, where, bounds }),
      facts: { ...rangeFacts(bounds), events_total: Number(count) },
      data: {
        text: context.cuts.text(text),
        parts: placeholders.map(({ kind, distinct, values }) => ({
          kind,
          distinct: Number(distinct),
          values: values.map(({ value, count: times }) => ({ value: context.cuts.text(value, 100), count: Number(times) })),
        })),
      },
    }
  },
})

type PatternQuery = { sources: Sources; where?: string | undefined; bounds: TimeBounds }

const detailsOf = ({ sources, where, bounds }: PatternQuery) => ({
  ...sources.selection,
  ...(where?.trim() ? { where } : {}),
  from_ts: bounds.fromMs,
  to_ts: bounds.toMs,
})

const findPatterns = async ({ call }: ToolContext, query: PatternQuery): Promise<PatternRow[]> =>
  (await call(contract.patterns.find, { body: { search_details: detailsOf(query) } })).patterns

const keyOf = ({ id, log_id }: PatternRow): string => `${log_id} ${id}`

/** The rows whose pattern the other range does not have. A full list says nothing about patterns beyond its end, so these are counted. */
async function missingIn(rows: readonly PatternRow[], others: readonly PatternRow[], query: PatternQuery, context: ToolContext) {
  const known = new Set(others.map(keyOf))
  const missing = rows.filter((row) => !known.has(keyOf(row)))
  if (others.length < LISTED_MAX || missing.length === 0) return missing
  const candidates = missing.slice(0, CANDIDATES_MAX)
  const ids = `@pattern IN (${[...new Set(candidates.map(({ id }) => `'${id}'`))].join(', ')})`
  const where = query.where?.trim() ? `(${query.where}) AND ${ids}` : ids
  const found = new Set((await findPatterns(context, { ...query, where })).map(keyOf))
  return candidates.filter((row) => !found.has(keyOf(row)))
}

const patternRow = ({ id, template, log_id, count }: PatternRow, sources: Sources, { cuts }: ToolContext) => ({
  pattern: id,
  text: cuts.text(template),
  events: Number(count),
  dataset: sources.nameOf(log_id),
})

export const patternTools: readonly AgentTool[] = [patterns, newPatterns, patternValues]
