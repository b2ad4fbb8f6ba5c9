import { contract } from '@dendro/api'
import { z } from 'zod'
import { badField } from '../../kernel/errors.ts'
import type { TimeBounds } from '../../query/bounds.ts'
import { exploreLink } from '../app-links.ts'
import { counted } from '../counted.ts'
import { Cost, rangeOutput, Span } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall, sourceArguments, sourcesOf, timeText, whereArgument } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'

const DAY_MS = 86_400_000
const NAMES_SHOWN = 3
const SHARE_DIGITS = 3

const epochMs = contract.search.run.body.shape.from_ts

const compareRanges = readingTool({
  name: 'compare_ranges',
  title: 'Compare two ranges',
  description:
    'Finds what changed: the field values and message patterns whose share and rate differ most from an earlier range, the most telling first. Findings of one group belong together; `shared` is what nearly all events of a finding have, and few others: the likely cause. The best first step for "why did this start?".',
  permissions: ['search_read'],
  input: z.strictObject({
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    baseline: z
      .enum(['previous', 'day', 'week'])
      .default('previous')
      .describe('The range to compare with: just as long and right before, or the same times a day or a week earlier.'),
    baseline_from_ts: epochMs.describe('Instead of baseline: epoch milliseconds, inclusive; together with baseline_to_ts.'),
    baseline_to_ts: epochMs.describe('Epoch milliseconds, exclusive.'),
    limit: z.int().min(1).max(50).default(10),
  }),
  output: {
    facts: { ...rangeOutput, baseline: Span, findings_total: z.int(), counts_are_of_stored_spans: z.literal(true).optional(), cost: Cost },
    data: {
      findings: z.array(
        z.strictObject({
          change: z.string(),
          text: z.string(),
          where: z.string(),
          events: z.int(),
          events_before: z.int(),
          share: z.number(),
          share_before: z.number(),
          same_events: z.array(z.string()).optional(),
          group: z.int(),
          shared: z.array(z.string()).optional(),
        }),
      ),
      findings_left_out: z.int().optional(),
    },
  },
  run: async (args, context) => {
    const sources = await sourcesOf(context, args)
    const bounds = rangeOfCall(context, args)
    const earlier = baselineOf(args, bounds)
    const found = await context.call(contract.changes.find, {
      body: {
        ...sources.selection,
        where: args.where,
        from_ts: bounds.fromMs,
        to_ts: bounds.toMs,
        baseline: { from_ts: earlier.fromMs, to_ts: earlier.toMs },
        limit: args.limit,
      },
    })
    const findings = found.findings.map(({ change, text, names, where, count, baseline_count, share, baseline_share, shared }, at) => ({
      change,
      text: context.cuts.text(text),
      where: context.cuts.text(where),
      events: Number(count),
      events_before: Number(baseline_count),
      share: Number(share.toPrecision(SHARE_DIGITS)),
      share_before: Number(baseline_share.toPrecision(SHARE_DIGITS)),
      ...(names.length > 1 ? { same_events: names.slice(1, 1 + NAMES_SHOWN).map(({ label }) => context.cuts.text(label, 120)) } : {}),
      group: 1 + found.groups.findIndex((group) => group.findings.includes(at)),
      ...(shared ? { shared: shared.names.map((name) => context.cuts.text(name.where)) } : {}),
    }))
    const cmp = args.baseline_from_ts === undefined ? args.baseline : undefined
    return {
      summary: `${counted(found.findings_total, 'finding')}; ${counted(found.range.count, 'event')} in the range and ${found.baseline.count} in the baseline.`,
      link: exploreLink(context, { datasets: sources.ids, where: args.where, bounds, tab: 'difference', cmp }),
      facts: {
        ...rangeFacts(bounds),
        baseline: { from: timeText(earlier.fromMs), to: timeText(earlier.toMs) },
        findings_total: found.findings_total,
        ...(found.is_sampled ? { counts_are_of_stored_spans: true as const } : {}),
        cost: { bytes_searched: Number(found.cost.bytes), ms: found.cost.ms },
      },
      data: {
        findings: context.cuts.rows(findings, args.limit, 'raise limit, or add a filter'),
        ...(found.findings_total > findings.length ? { findings_left_out: found.findings_total - findings.length } : {}),
      },
    }
  },
})

type BaselineGiven = { baseline: 'previous' | 'day' | 'week'; baseline_from_ts?: number | undefined; baseline_to_ts?: number | undefined }

function baselineOf({ baseline, baseline_from_ts, baseline_to_ts }: BaselineGiven, { fromMs, toMs }: TimeBounds): TimeBounds {
  if (baseline_from_ts !== undefined || baseline_to_ts !== undefined) {
    if (baseline_from_ts === undefined) throw badField('baseline_from_ts', 'is required with baseline_to_ts')
    if (baseline_to_ts === undefined) throw badField('baseline_to_ts', 'is required with baseline_from_ts')
    return { fromMs: baseline_from_ts, toMs: baseline_to_ts }
  }
  const backMs = baseline === 'previous' ? toMs - fromMs : baseline === 'day' ? DAY_MS : 7 * DAY_MS
  return { fromMs: Math.max(0, fromMs - backMs), toMs: Math.max(0, toMs - backMs) }
}

export const compareTools: readonly AgentTool[] = [compareRanges]
