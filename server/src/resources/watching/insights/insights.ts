import { type Insight, insightCategory, writeInsightText } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import type { MetaWorld } from '../../../world.ts'
import { wholeDatasets } from '../../data/datasets/datasets.ts'
import { monitorReads, visibleMonitors } from '../monitors/monitors.ts'
import { type InsightRow, selectInsight, selectInsights } from './rows.ts'

export { insightEvaluation } from './job.ts'

/** The insights whose dataset, with all of its events, or monitor the caller may see, the latest first. */
export const listInsights = async (world: MetaWorld, actor: Actor): Promise<Insight[]> =>
  shownInsights(world, actor, await selectInsights(world.meta, actor.orgId))

export async function findInsight(world: MetaWorld, actor: Actor, id: string): Promise<Insight> {
  const row = await selectInsight(world.meta, actor.orgId, id)
  const [shown] = row ? await shownInsights(world, actor, [row]) : []
  if (!shown) throw notFound('insight', id)
  return shown
}

async function shownInsights(world: MetaWorld, actor: Actor, rows: readonly InsightRow[]): Promise<Insight[]> {
  const [datasets, monitors] = await Promise.all([
    rows.some(({ entity_type }) => entity_type === 'log') ? wholeDatasets(world, actor) : [],
    rows.some(({ entity_type }) => entity_type === 'monitor') && hasPermission(actor, 'monitors_read')
      ? visibleMonitors(world, actor, () => monitorReads(world, actor.orgId))
      : [],
  ])
  const names = new Map([
    ...datasets.map(({ id, collection, dataset }) => [`log ${id}`, `${collection}.${dataset}`] as const),
    ...monitors.map(({ id, name }) => [`monitor ${id}`, name] as const),
  ])
  return rows.flatMap((row) => {
    const name = names.get(`${row.entity_type} ${row.entity_id}`)
    return name === undefined ? [] : [insightReply(row, name)]
  })
}

const insightReply = (row: InsightRow, entityName: string): Insight => ({
  id: row.id,
  entity_id: row.entity_id,
  entity_type: row.entity_type,
  name: row.name,
  category: insightCategory(row.name),
  description: writeInsightText({
    finding: `${oneLine(entityName)}: ${row.evidence}`,
    sinceMs: row.since_ms,
    confidence: row.confidence,
    action: row.action,
  }),
  created_at: row.since_ms,
  modified_at: Math.max(row.since_ms, row.modified_at),
})

/** Names of monitors may have line breaks, and the description has one part on each line. */
const oneLine = (name: string): string => name.replaceAll(/\s+/g, ' ')
