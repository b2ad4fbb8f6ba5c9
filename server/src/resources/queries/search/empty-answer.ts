import type { SearchResponse } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { SearchPlan } from './plan.ts'

/** A response with all required members. */
export function emptyAnswer(actor: Actor, { selected, warnings }: Pick<SearchPlan, 'selected' | 'warnings'>): SearchResponse {
  return {
    explain: { 'Execution time (millis)': '0' },
    events: [],
    result: [],
    groups: [],
    groups_series: [],
    metadata: { select: [...selected], correlation_id: actor.facts.correlationId },
    totals: { count: 0 },
    pagination: {},
    links: [],
    is_exact: true,
    ...(warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) }),
  }
}
