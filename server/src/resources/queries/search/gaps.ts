import type { Warning } from '@dendro/language/warnings'
import type { EventQuery } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'

/** Lets a query run without an unavailable shard, if the operator has allowed it. */
export const allowGaps = ({ deployment }: Pick<World, 'deployment'>, eventQuery: EventQuery): EventQuery =>
  deployment.skipsMissingShards ? { ...eventQuery, gaps: { found: false } } : eventQuery

/** Warnings that the result is incomplete. */
export const gapWarnings = ({ gaps }: Pick<EventQuery, 'gaps'>, field = 'from'): Warning[] =>
  gaps?.found
    ? [
        {
          field,
          code: 'MISSING_SHARD',
          message: `${gaps.shards ?? 'a part'} of the event store does not answer just now; events that lie there are missing here`,
        },
      ]
    : []
