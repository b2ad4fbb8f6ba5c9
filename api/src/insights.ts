import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { ms, uuid } from './values.ts'

/** The names of insights, each with its category. */
const categories = {
  debug_logs_received: 'verbose_logging',
  parser_config_mismatch: 'parsing',
  volume_jumped: 'volume',
  errors_jumped: 'errors',
  cost_jumped: 'cost',
  sender_silent: 'silence',
  new_patterns: 'patterns',
  patterns_vanished: 'patterns',
  fields_exploded: 'fields',
  never_queried: 'retention',
  monitor_never_fires: 'monitors',
  monitor_always_fires: 'monitors',
} as const

type InsightName = keyof typeof categories
const insightNames = Object.keys(categories) as [InsightName, ...InsightName[]]
type InsightCategory = (typeof categories)[InsightName]
const insightCategories = [...new Set(Object.values(categories))] as [InsightCategory, ...InsightCategory[]]

export const insightCategory = (name: InsightName): InsightCategory => categories[name]

export const Insight = z
  .object({
    id: uuid,
    entity_id: uuid.describe('The id of the dataset or monitor.'),
    entity_type: z.enum(['log', 'monitor']),
    name: z.enum(insightNames),
    category: z.enum(insightCategories),
    description: z
      .string()
      .describe(
        'Four lines: what was found where; since when, in UTC, and how sure it is (`high` or `medium`); one action; the link to the page for it, a path of this service.',
      ),
    created_at: ms.describe('When it began.'),
    modified_at: ms.describe('When it last changed.'),
  })
  .meta({ id: 'Insight', description: 'A finding about ingested data or about a monitor.' })
export type Insight = z.output<typeof Insight>

const common = { tier: 'X', permission: 'logs_read' } as const

export const insights = {
  list: endpoint({
    method: 'GET',
    path: '/insights',
    summary: 'List insights about ingested data',
    description:
      'Counts of every dataset are compared with those of the weeks before, once an hour. A jump and a new pattern stay in the list for a day after they are over.',
    reply: z.object({ insights: z.array(Insight) }),
    ...common,
  }),
  get: endpoint({
    method: 'GET',
    path: '/insights/{insightId}',
    summary: 'One insight',
    reply: Insight,
    fails: [404],
    ...common,
  }),
}
