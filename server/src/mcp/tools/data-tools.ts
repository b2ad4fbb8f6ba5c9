import { contract } from '@dendro/api'
import { z } from 'zod'
import { appLink } from '../app-links.ts'
import { sourceArguments } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'

const NAME_CHARS_MAX = 255

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
      summary: found.length === 1 ? '1 dataset matches.' : `${found.length} datasets match.`,
      link: appLink(context, 'data', find === '' ? {} : { find }),
      facts: { datasets_total: found.length },
      data: { datasets: context.cuts.rows(found, limit, 'narrow them with find or from_expr, or raise limit') },
    }
  },
})

export const dataTools: readonly AgentTool[] = [listDatasets]
