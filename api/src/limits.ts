import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Metadata, ms, text, uuid } from './values.ts'

/** The largest integer that clients with 64-bit numbers can read. */
const LIMIT_MAX = 2n ** 63n - 1n

/** A number that is not negative; integers beyond 2^53 stay exact. */
const amount = z
  .custom<number | bigint>((value) => (typeof value === 'number' || typeof value === 'bigint') && value >= 0 && value <= LIMIT_MAX, {
    error: ({ input }) => (input === undefined ? 'is required' : `must be a number from 0 to ${LIMIT_MAX}`),
  })
  .meta({ type: 'number', minimum: 0 })

const LimitScope = z
  .strictObject({
    organisation: z.object({ id: z.string() }).optional(),
    tag: z
      .strictObject({ team: text(1, 255).optional(), key: text(1, 255).optional(), value: text(1, 255).optional() })
      .optional()
      .describe('A team, as `{team: "x"}` or `{key: "team", value: "x"}`: all datasets whose tag `team` has that value.'),
  })
  .meta({ id: 'LimitScope' })

/** The scope in a request. */
const RequestedScope = LimitScope.extend({
  organisation: z.object({ id: z.string().optional() }).optional().describe("The caller's organization; the id is optional."),
}).meta({ id: 'RequestedLimitScope' })

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
      'A limit on the bytes of lines that an organization or team sends in a calendar month (UTC), or, set by the operator, on its monitors.',
  })
export type Limit = z.output<typeof Limit>

const DESCRIPTION_CHARS_MAX = 4_000

const NewLimit = z.object({
  category: z.enum(['INGESTION_LIMITS']),
  value: amount,
  unit: z.enum(['BYTES']),
  target: z.enum(['TEAM', 'ORGANISATION']),
  scope: RequestedScope,
  time_window: z.enum(['PER_MONTH']),
  description: text(0, DESCRIPTION_CHARS_MAX).optional(),
})

const LimitUsage = z
  .object({
    limit_id: uuid,
    value: amount,
    used: z.int().min(0).describe('Bytes received in this window; for monitors, their number.'),
    window_start: ms.optional().describe('Absent for a limit without a window.'),
    window_end: ms.optional(),
    crossed_at: ms
      .optional()
      .describe('When a request exceeded the limit. Ingestion is refused until the window ends or the limit changes.'),
  })
  .meta({ id: 'LimitUsage' })

export const limits = {
  list: endpoint({
    method: 'GET',
    path: '/limits',
    permission: 'limits_read',
    tier: 'C',
    summary: 'List the limits of the organization',
    reply: z.object({ limits: z.array(Limit) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/limits',
    permission: 'limits_write',
    tier: 'S',
    summary: 'Create a monthly ingestion limit for the organization or a team',
    description:
      'A request that would exceed the limit is refused as a whole with 429, and so are later ones until the month ends or the limit changes.',
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
    summary: 'Update a limit; absent members stay, and an exceeded limit opens again',
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
    summary: 'Get the use of a limit in this month',
    reply: LimitUsage,
    fails: [404, 503],
  }),
}
