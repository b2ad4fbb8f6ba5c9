import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Metadata, ms, text, uuid } from './values.ts'

/** LIMIT_MAX is the largest integer that clients with 64-bit numbers can read. */
const LIMIT_MAX = 2n ** 63n - 1n

/** amount is a number that is not negative; integers beyond 2^53 stay exact. */
const amount = z
  .custom<number | bigint>((value) => (typeof value === 'number' || typeof value === 'bigint') && value >= 0 && value <= LIMIT_MAX, {
    error: `must be a number from 0 to ${LIMIT_MAX}`,
  })
  .meta({ type: 'number', minimum: 0 })

const LimitScope = z
  .strictObject({
    organisation: z.object({ id: z.string() }).optional(),
    tag: z
      .strictObject({ team: text(1, 255).optional(), key: text(1, 255).optional(), value: text(1, 255).optional() })
      .optional()
      .describe('Names a team, as `{team: "x"}` or `{key: "team", value: "x"}`: its datasets are those with the tag `team` of that value.'),
  })
  .meta({ id: 'LimitScope' })

/** LimitTarget is a scope as callers give it. */
const LimitTarget = LimitScope.extend({
  organisation: z.object({ id: z.string().optional() }).optional().describe('That of the caller, also when no id is given.'),
}).meta({ id: 'LimitTarget' })

export const Limit = z
  .object({
    id: uuid,
    org_id: uuid,
    category: z.enum(['INGESTION_LIMITS', 'SEARCH_LIMITS', 'MONITOR_LIMITS', 'LBM_LIMITS']),
    description: z.string().optional(),
    value: amount.describe('The cap.'),
    unit: z.enum(['BYTES', 'COUNT', 'RATIO']),
    target: z.enum(['TEAM', 'ORGANISATION']),
    scope: LimitScope,
    type: z.enum(['SYSTEM', 'USER_DEFINED']),
    time_window: z.enum(['PER_MONTH', 'NO_WINDOW']),
    metadata: Metadata,
  })
  .meta({
    id: 'Limit',
    description:
      'A cap on the bytes of the lines that an organisation or a team sends in a calendar month, in UTC; or, set by the operator, on its monitors.',
  })
export type Limit = z.output<typeof Limit>

const DESCRIPTION_CHARS_MAX = 4_000

const NewLimit = z.object({
  category: z.enum(['INGESTION_LIMITS']),
  value: amount,
  unit: z.enum(['BYTES']),
  target: z.enum(['TEAM', 'ORGANISATION']),
  scope: LimitTarget,
  time_window: z.enum(['PER_MONTH']),
  description: text(0, DESCRIPTION_CHARS_MAX).optional(),
})

const LimitUsage = z
  .object({
    limit_id: uuid,
    value: amount,
    used: z.int().min(0).describe('Bytes that were taken in this window under the limit; for monitors, how many there are.'),
    window_start: ms.optional().describe('Absent for a limit without a window.'),
    window_end: ms.optional(),
    crossed_at: ms
      .optional()
      .describe('When a post would have crossed the cap. From then on nothing is taken until the window ends or the limit changes.'),
  })
  .meta({ id: 'LimitUsage' })

export const limits = {
  list: endpoint({
    method: 'GET',
    path: '/limits',
    permission: 'limits_read',
    tier: 'C',
    summary: 'The limits of the organisation',
    reply: z.object({ limits: z.array(Limit) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/limits',
    permission: 'limits_write',
    tier: 'S',
    summary: 'Cap what the organisation or a team may send in a month',
    description:
      'The post that would cross the cap is refused as a whole with 429, and so is every later one until the month is over or the limit changes.',
    body: NewLimit,
    status: 201,
    reply: Limit,
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/limits/{limitId}',
    permission: 'limits_read',
    tier: 'S',
    summary: 'One limit',
    reply: Limit,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/limits/{limitId}',
    permission: 'limits_write',
    tier: 'C',
    summary: 'Change a limit; what is not named stays, and a crossed limit is open again',
    body: NewLimit.partial(),
    reply: Limit,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/limits/{limitId}',
    permission: 'limits_delete',
    tier: 'C',
    summary: 'Delete a limit',
    fails: [404],
  }),
  usage: endpoint({
    method: 'GET',
    path: '/limits/{limitId}/usage',
    permission: 'limits_read',
    tier: 'D',
    summary: 'How much of a limit is used in this month',
    reply: LimitUsage,
    fails: [404, 503],
  }),
}
