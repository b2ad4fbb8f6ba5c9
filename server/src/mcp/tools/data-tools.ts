import { contract } from '@dendro/api'
import { z } from 'zod'
import { appLink, exploreLink } from '../app-links.ts'
import { counted, verb } from '../counted.ts'
import { rangeOutput } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall, sourceArguments, sourcesOf } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'

const NAME_CHARS_MAX = 255
const FIELDS_MAX = 1_000
const DATASETS_MAX = 50

const listDatasets = readingTool({
  name: 'list_datasets',
  title: 'List datasets',
  description: 'Lists the datasets that you may read, with tags, retention and the time of the last event. Start here.',
  permissions: ['logs_read'],
  input: z.strictObject({
    find: z.string().max(NAME_CHARS_MAX).optional().describe('Only datasets whose name contains this text.'),
    from_expr: sourceArguments.from_expr,
    limit: z.int().min(1).max(500).default(50),
  }),
  output: {
    facts: { datasets_total: z.int() },
    data: {
      datasets: z.array(
        z.strictObject({
          name: z.string(),
          id: z.string(),
          tags: z.record(z.string(), z.string()).optional(),
          retention: contract.datasets.update.body.shape.retention.optional(),
          last_event: z.string().optional(),
        }),
      ),
    },
  },
  run: async ({ find = '', from_expr, limit }, context) => {
    const { datasets } = await context.call(contract.datasets.list, { query: from_expr?.trim() ? { from_expr } : {} })
    const found = datasets
      .map(({ id, collection, dataset, tags, retention, metadata }) => ({
        name: `${collection}.${dataset}`,
        id,
        ...(Object.keys(tags).length > 0 ? { tags } : {}),
        ...(retention === undefined ? {} : { retention }),
        ...(metadata.last_heartbeat_at ? { last_event: new Date(metadata.last_heartbeat_at).toISOString() } : {}),
      }))
      .filter(({ name }) => name.toLowerCase().includes(find.toLowerCase()))
      .toSorted((one, other) => one.name.localeCompare(other.name))
    return {
      summary: `${counted(found.length, 'dataset')} ${verb(found.length, 'matches', 'match')}.`,
      link: appLink(context, 'data', find === '' ? {} : { find }),
      facts: { datasets_total: found.length },
      data: { datasets: context.cuts.rows(found, limit, 'narrow them with find or from_expr, or raise limit') },
    }
  },
})

const VALUES_SHOWN = 3
const VALUE_CHARS = 60

const listFields = readingTool({
  name: 'list_fields',
  title: 'List fields',
  description: 'Lists the most frequent fields of datasets with their types and example values, from a sample of the newest events.',
  permissions: ['search_read'],
  input: z.strictObject({
    ...sourceArguments,
    ...rangeArguments,
    find: z.string().max(NAME_CHARS_MAX).optional().describe('Only fields whose name contains this text.'),
    limit: z.int().min(1).max(300).default(25).describe('Fields of each dataset.'),
  }),
  output: {
    facts: rangeOutput,
    data: {
      datasets: z.array(
        z.strictObject({
          dataset: z.string(),
          fields: z.array(z.strictObject({ name: z.string(), type: z.string(), events: z.int(), examples: z.array(z.string()) })),
        }),
      ),
    },
  },
  run: async (args, context) => {
    const sources = await sourcesOf(context, args)
    const bounds = rangeOfCall(context, args)
    const { from, from_expr } = sources.selection
    const selection = from ? { log_id: from } : { from_expr: from_expr ?? '' }
    const found = await context.call(contract.topKeys.get, {
      query: { ...selection, from_ts: bounds.fromMs, to_ts: bounds.toMs, limit: FIELDS_MAX },
    })
    const find = args.find?.toLowerCase() ?? ''
    const datasets = Object.entries(found).flatMap(([id, keys]) => {
      const all = Object.entries(keys).filter(([name]) => name.toLowerCase().includes(find))
      const fields = all.slice(0, args.limit).map(([name, { type, rank, values }]) => ({
        name,
        type: type.toLowerCase(),
        events: rank,
        examples: Object.values(values)
          .slice(0, VALUES_SHOWN)
          .map(({ value }) => context.cuts.text(value, VALUE_CHARS)),
      }))
      if (all.length > fields.length)
        context.cuts.note(
          `a dataset has ${counted(all.length, 'field')}, of which ${fields.length} ${verb(fields.length, 'is', 'are')} shown; use find or raise limit`,
        )
      return fields.length > 0 ? [{ dataset: sources.nameOf(id), fields }] : []
    })
    return {
      summary: `Fields of ${counted(datasets.length, 'dataset')}.`,
      link: exploreLink(context, { datasets: sources.ids, bounds, tab: 'fields' }),
      facts: rangeFacts(bounds),
      data: { datasets: context.cuts.rows(datasets, DATASETS_MAX, 'name fewer datasets with from, or lower limit') },
    }
  },
})

export const dataTools: readonly AgentTool[] = [listDatasets, listFields]
