import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { range } from './search.ts'
import { int64, list, Metadata, ms, text, textParameter, uuid } from './values.ts'

const upper = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (typeof value === 'string' ? value.toUpperCase() : value), schema)

const policyType = z.enum(['ROLE_BASED', 'LOG_FORBID', 'LOG_PERMIT', 'CUSTOM'])
const name = text(1, 255)

const Resource = z.object({ resource_type: name, resource_id: name })
const Principal = z.object({ principal_type: upper(z.enum(['ROLE', 'USER', 'APIKEY'])), principal_id: name })

const RESOURCES_MAX = 100
const PRINCIPALS_MAX = 5
const CONTEXT_MAX = 5
const ACTIONS_MAX = 4
const WHERE_MAX = 4_000

const ConditionSet = z.object({
  resources: list(Resource, { max: RESOURCES_MAX }).optional().describe('True if the log is one of these.'),
  principals: list(Principal, { max: PRINCIPALS_MAX })
    .optional()
    .describe('True if the caller is one of these, or has one of these roles.'),
  context: list(
    z.object({
      key: text(1, 255),
      operator: z.enum(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in', 'like']),
      value: z.union([text(0, 4000), z.boolean()]),
    }),
    { max: CONTEXT_MAX },
  )
    .optional()
    .describe(
      'For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number; `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.',
    ),
  where: text(0, WHERE_MAX)
    .optional()
    .describe(
      'For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`, without free text. It must match in addition to `context`.',
    ),
})
export type ConditionSet = z.output<typeof ConditionSet>

const PolicyDraft = z.object({
  description: text(0, 4000).optional(),
  policy_type: policyType,
  resource: Resource.describe('A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name.'),
  actions: list(text(1, 255), { min: 1, max: ACTIONS_MAX }).describe(
    'Policies are about reading, so the list must include it: `*`, `read`, `search`, `logs_read` or `search_read`.',
  ),
  restricted: z.boolean().default(false).describe('Stored without effect; a LOG_PERMIT policy always restricts.'),
  principal: Principal.describe('A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role.'),
  when: ConditionSet.optional().describe('The policy applies only if all given members match; of a log, only to the events that match.'),
  unless: ConditionSet.optional().describe('The policy does not apply if all given members match; of a log, not to the events that match.'),
})
export type PolicyDraft = z.output<typeof PolicyDraft>

export const Policy = PolicyDraft.extend({
  id: uuid,
  restricted: z.boolean(),
  created_at: ms,
  modified_at: ms,
  metadata: Metadata,
}).meta({
  id: 'Policy',
  description:
    'A rule in addition to roles: LOG_FORBID hides logs from a principal; LOG_PERMIT restricts a principal to the named logs. LOG_FORBID wins. ROLE_BASED and CUSTOM show events of a log to a principal: as soon as one does, the principal sees only the events of this log that some such policy shows.',
})
export type Policy = z.output<typeof Policy>

const PolicyPreview = z
  .object({
    datasets: z.int().min(0).describe('The datasets among those of the policy that the caller may see.'),
    events: int64.describe('The events of these datasets in the range that the caller may see.'),
    shown: int64.describe('Those of them that the principal would see with the policy, next to the policies that exist.'),
  })
  .meta({ id: 'PolicyPreview' })
export type PolicyPreview = z.output<typeof PolicyPreview>

const Policies = z.object({ policies: z.array(Policy) })

export const policies = {
  list: endpoint({
    method: 'GET',
    path: '/policies',
    permission: 'policies_read',
    tier: 'X',
    summary: 'List the policies of the organization, newest first',
    query: z.object({
      resource_type: textParameter(255),
      resource_id: textParameter(255),
      principal_type: textParameter(255),
      principal_id: textParameter(255),
    }),
    reply: Policies,
  }),
  create: endpoint({
    method: 'POST',
    path: '/policies',
    permission: 'policies_write',
    tier: 'X',
    summary: 'Create a policy; it takes effect with the next request',
    description:
      'LOG_FORBID and LOG_PERMIT decide about whole logs; ROLE_BASED and CUSTOM decide about single events by their fields, in every read.',
    body: PolicyDraft,
    status: 201,
    reply: Policy,
  }),
  preview: endpoint({
    method: 'POST',
    path: '/policies/preview',
    permission: 'policies_write',
    tier: 'D',
    summary: 'Count what a principal would see with a policy, without creating it',
    description: 'Counts by searches of the caller, so the permission `search_read` is needed too. The default range is `Last 1 day`.',
    body: PolicyDraft.extend({
      ...range,
      policy_id: uuid.optional().describe('The policy that this one would replace.'),
    }),
    reply: PolicyPreview,
    fails: [404, 503],
  }),
  get: endpoint({
    method: 'GET',
    path: '/policies/{policyId}',
    permission: 'policies_read',
    tier: 'X',
    summary: 'One policy',
    reply: Policy,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/policies/{policyId}',
    permission: 'policies_write',
    tier: 'X',
    summary: 'Replace a policy',
    body: PolicyDraft,
    reply: Policy,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/policies/{policyId}',
    permission: 'policies_delete',
    tier: 'X',
    summary: 'Delete a policy',
    status: 200,
    reply: z.object({}),
    fails: [404],
  }),
  ofResource: endpoint({
    method: 'GET',
    path: '/policies/resources/{resource_type}/{resource_id}',
    permission: 'policies_read',
    tier: 'X',
    summary: 'List the policies that name a resource, directly or in a condition',
    params: z.object({ resource_type: name, resource_id: name }),
    reply: Policies,
  }),
  ofPrincipal: endpoint({
    method: 'GET',
    path: '/policies/principals/{principal_type}/{principal_id}',
    permission: 'policies_read',
    tier: 'X',
    summary: 'List the policies that name a principal',
    params: z.object({ principal_type: upper(z.enum(['ROLE', 'USER', 'APIKEY'])), principal_id: name }),
    reply: Policies,
  }),
}
