import { contract } from '@dendro/api'
import { z } from 'zod'
import { appLink } from '../app-links.ts'
import { counted } from '../counted.ts'
import { rangeOutput } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall, sourceArguments, sourcesOf, whereArgument } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'

const usage = readingTool({
  name: 'usage',
  title: 'Usage',
  description: 'Shows how many bytes were ingested, searched or exported, in total and by dataset, largest first.',
  permissions: ['usage_read'],
  input: z.strictObject({
    kind: z.enum(['ingestion', 'search', 'export']).default('ingestion'),
    ...rangeArguments,
    limit: z.int().min(1).max(200).default(15).describe('Datasets.'),
  }),
  output: {
    facts: { ...rangeOutput, bytes_total: z.number(), count_total: z.number() },
    data: { datasets: z.array(z.strictObject({ dataset: z.string(), bytes: z.number(), events: z.int() })) },
  },
  run: async ({ kind, limit, ...range }, context) => {
    const bounds = rangeOfCall(context, range)
    const query = { usage_type: kind, from_ts: bounds.fromMs, to_ts: bounds.toMs, num_of_slices: 1 }
    const whole = await context.call(contract.usage.organization, { query })
    const byDataset = await context.call(contract.usage.logs, { query: { ...query, limit } })
    const { nameOf } = await sourcesOf(context, {})
    const rows = byDataset.groups_series.map(({ name, value, count }) => ({ dataset: nameOf(name), bytes: value, events: Number(count) }))
    return {
      summary: `${counted(Number(whole.total_value), 'byte')} of ${kind} in the range.`,
      link: appLink(context, 'usage', { kind: kind === 'ingestion' ? undefined : kind, f: bounds.fromMs, t: bounds.toMs }),
      facts: { ...rangeFacts(bounds), bytes_total: whole.total_value, count_total: whole.total_count },
      data: { datasets: context.cuts.rows(rows, limit, 'raise limit') },
    }
  },
})

const queryCost = readingTool({
  name: 'query_cost',
  title: 'Cost of a query',
  description: 'Estimates how many bytes a query over a range would read, without running it. Check it before queries over days.',
  permissions: ['search_read'],
  input: z.strictObject({ ...sourceArguments, ...whereArgument, ...rangeArguments }),
  output: { facts: { ...rangeOutput, bytes_in_range: z.number() } },
  run: async (args, context) => {
    const sources = await sourcesOf(context, args)
    const bounds = rangeOfCall(context, args)
    const { explain } = await context.call(contract.search.run, {
      body: { ...sources.selection, where: args.where, from_ts: bounds.fromMs, to_ts: bounds.toMs, select: ['*'], explain_only: true },
    })
    const bytes = Number(explain['Approximate bytes in time range'] ?? 0)
    return { summary: `The range holds about ${counted(bytes, 'byte')}.`, facts: { ...rangeFacts(bounds), bytes_in_range: bytes } }
  },
})

export const usageTools: readonly AgentTool[] = [usage, queryCost]
