import type { World } from '../../../../world.ts'
import type { NotificationContent } from '../message-text.ts'
import { type NotificationRow, selectConcurrentAlerts } from '../rows.ts'
import { type FactsWorld, factsOf } from './facts.ts'
import { narrate } from './narrative.ts'
import { factLines } from './text.ts'

const CONCURRENT_MAX = 5
const MINUTE_MS = 60_000
/** The distance from the window within which other alerts count as concurrent. */
const NEAR_MS = 15 * MINUTE_MS

type ReportRequest = { readonly row: NotificationRow; readonly content: NotificationContent; readonly signal: AbortSignal }

/**
 * Creates the report from stored events. A configured model adds a narrative; without a timely answer the report has the facts only.
 * Undefined when there is nothing to compare.
 */
export async function createReport(
  world: FactsWorld & Pick<World, 'model' | 'log'>,
  { row, content, signal }: ReportRequest,
): Promise<string | undefined> {
  const { occasion, samples } = content
  const facts = await factsOf(world, row.org_id, occasion, signal)
  if (!facts) return undefined
  const near = { fromMs: occasion.fromMs - NEAR_MS, toMs: world.clock.nowMs(), except: occasion.monitor.id, rowsMax: CONCURRENT_MAX }
  const lines = factLines(facts, samples, await selectConcurrentAlerts(world.meta, row.org_id, near))
  if (!world.model.configured) return lines
  try {
    return `${await narrate(world.model, content, lines, signal)}\n\n${lines}`
  } catch (cause) {
    world.log.warn({ err: cause, notification_id: row.id }, 'the model wrote no narrative; the report has the facts only')
    return lines
  }
}
