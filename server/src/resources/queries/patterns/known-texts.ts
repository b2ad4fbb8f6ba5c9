import type { Filter } from '@dendro/language/tree'
import type { EventQuery, TimeBounds } from '../../../reading/event-query.ts'
import type { World } from '../../../world.ts'
import { countMatchingPatterns, patternTemplates } from './patterns.ts'

/** Most patterns occurred lately, which costs little to find out. */
const RECENT_MS = 7 * 86_400_000
const IDS_MAX = 100
const NOWHERE = { position: 0, length: 0 }

/** Plans the read of events that match a filter; undefined when no dataset may be read. */
type PlanRead = (filter: Filter, bounds: TimeBounds) => Promise<EventQuery | undefined>

/** Looks up the templates of patterns by their ids: in the events of the last days, then in all that are kept. Those without an event are left out. */
export async function textsOfPatterns(
  world: Pick<World, 'meta' | 'events' | 'clock'>,
  orgId: string,
  ids: readonly string[],
  plan: PlanRead,
): Promise<ReadonlyMap<string, string>> {
  const nowMs = world.clock.nowMs()
  const texts = new Map<string, string>()
  for (const fromMs of [Math.max(0, nowMs - RECENT_MS), 0]) {
    const missing = ids.slice(0, IDS_MAX).filter((id) => !texts.has(id))
    if (missing.length === 0) break
    const values = missing.map((text) => ({ kind: 'text' as const, text }))
    const query = await plan({ kind: 'in', key: '@pattern', values, negated: false, at: NOWHERE }, { fromMs, toMs: nowMs })
    if (!query) break
    const { counted } = await countMatchingPatterns(world, query)
    const templates = await patternTemplates(world, orgId, query, counted)
    for (const { id, sequence } of counted) {
      const template = templates.get(sequence)
      if (template !== undefined && !texts.has(id)) texts.set(id, template)
    }
  }
  return texts
}
