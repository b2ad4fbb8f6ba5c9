import type { World } from '../../../../world.ts'
import { type NotificationRow, selectNeighbours } from '../rows.ts'
import type { Told } from '../words.ts'
import { factsOf, type Reader } from './facts.ts'
import { narrate } from './narrative.ts'
import { factLines } from './text.ts'

const NEIGHBOURS_MAX = 5
const MINUTE_MS = 60_000
/** NEAR_MS is how far from the window of the alert others count as about the same time. */
const NEAR_MS = 15 * MINUTE_MS

type Ask = { readonly row: NotificationRow; readonly told: Told; readonly signal: AbortSignal }

/**
 * reportOn tells what changed, from the store alone; with a model a narrative goes before, and without an answer of the model in time the facts
 * stand for themselves. It is undefined when there is nothing to look at.
 */
export async function reportOn(world: Reader & Pick<World, 'model' | 'log'>, { row, told, signal }: Ask): Promise<string | undefined> {
  const { occasion, samples } = told
  const facts = await factsOf(world, row.org_id, occasion, signal)
  if (!facts) return undefined
  const near = { fromMs: occasion.fromMs - NEAR_MS, toMs: world.clock.nowMs(), except: occasion.monitor.id, rowsMax: NEIGHBOURS_MAX }
  const lines = factLines(facts, samples, await selectNeighbours(world.meta, row.org_id, near))
  if (!world.model.configured) return lines
  try {
    return `${await narrate(world.model, told, lines, signal)}\n\n${lines}`
  } catch (cause) {
    world.log.warn({ err: cause, notification_id: row.id }, 'the model told nothing for a report; its facts go without')
    return lines
  }
}
