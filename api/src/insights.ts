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

export type InsightConfidence = 'high' | 'medium'
/** The one thing to do about an insight, and the page on which it is done. */
export type InsightAction = { readonly label: string; readonly link: string }
/** The parts of the description of an insight. */
export type InsightText = {
  readonly finding: string
  readonly sinceMs: number
  readonly confidence: InsightConfidence
  readonly action: InsightAction
}

export const writeInsightText = ({ finding, sinceMs, confidence, action }: InsightText): string => {
  const since = new Date(sinceMs).toISOString().slice(0, 16).replace('T', ' ')
  return [finding, `Since ${since} UTC. Confidence: ${confidence}.`, action.label, action.link].join('\n')
}

const PLACE = /^Since (\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\. Confidence: (high|medium)\.$/

/** Reads what `writeInsightText` wrote, for a client that shows the parts on their own; undefined for any other text. */
export function readInsightText(description: string): InsightText | undefined {
  const [finding = '', place = '', label = '', link = '', ...more] = description.split('\n')
  const found = PLACE.exec(place)
  if (!found || !/^\/app\/[a-z]/.test(link) || more.length > 0) return undefined
  return {
    finding,
    sinceMs: Date.parse(`${found[1]}T${found[2]}:00Z`),
    confidence: found[3] as InsightConfidence,
    action: { label, link },
  }
}

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
