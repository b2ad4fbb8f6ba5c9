import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, Metadata, ms, sec, text, uuid } from './values.ts'

const LoginMethod = z.object({ name: text(1, 255), enabled: z.boolean() })
const region = z.enum(['EU', 'US'])

const isUnique = (values: readonly string[]): boolean => new Set(values).size === values.length
const PARTITION_TAGS_MAX = 6

const PartitionTags = z.object({
  enabled: z.boolean(),
  partition_tag_list: list(text(1, 255), { min: 1, max: PARTITION_TAGS_MAX })
    .refine(isUnique, { error: 'must not name a tag twice' })
    .optional()
    .describe('The tags whose values, in this order, name the collection of events that name none.'),
})

const OrganisationSettings = z.strictObject({
  dcr_enabled: z.boolean().optional().describe('Whether tools may register themselves as OAuth clients; stored only.'),
  out_of_order: z.boolean().optional().describe('Late events are accepted and found whatever this says.'),
  multi_org_group: text(0, 255).optional().describe('The default group shared by organisations; stored only.'),
  shared_datasets: z.boolean().optional().describe('Cannot be turned on: organisations never read the events of one another.'),
})

export const Organization = z
  .object({
    id: uuid,
    name: text(1, 255),
    login_methods: z.array(LoginMethod),
    description: z.string().optional(),
    active: z.boolean().describe('Whether this is the organisation the caller acts in.'),
    management_resource: uuid.optional().describe('The organisation from which this one is managed.'),
    is_management_org: z.boolean(),
    contract_type: z.enum(['PAID', 'TRIAL', 'FREE']),
    region,
    metadata: Metadata,
    partition_tags: PartitionTags.optional(),
    settings: OrganisationSettings.optional(),
  })
  .meta({ id: 'Organization' })
export type Organization = z.output<typeof Organization>

const OrganizationChange = z.object({
  name: text(1, 255).optional(),
  description: text(0, 4000).optional(),
  login_methods: list(LoginMethod, { min: 1 })
    .refine((methods) => isUnique(methods.map((method) => method.name)), { error: 'must not name a method twice' })
    .optional(),
  partition_tags: PartitionTags.optional(),
  settings: OrganisationSettings.optional().describe('Given members are changed, the others stay.'),
})

export const organizations = {
  list: endpoint({
    method: 'GET',
    path: '/organizations',
    permission: 'logs_read',
    tier: 'X',
    summary: 'The organisations the caller may act in, or manages; `active` marks the one the request acts in',
    reply: z.object({ organisations: z.array(Organization) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/organizations',
    permission: 'customer_write',
    tier: 'X',
    summary: 'Create an organisation; for administrators of the management organisation',
    description:
      'The answer carries `first_key`, an AdminApi key of the new organisation, shown this once only. A user who creates an organisation is granted Admin in it and may switch to it.',
    body: z.object({ name: text(1, 255), region: region.optional() }),
    status: 201,
    reply: Organization.extend({ first_key: z.string() }),
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/organizations/{orgId}',
    permission: 'logs_read',
    tier: 'X',
    summary: 'One organisation',
    reply: Organization,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/organizations/{orgId}',
    permission: 'customer_write',
    tier: 'X',
    summary: 'Rename, describe or configure an organisation',
    body: OrganizationChange,
    reply: Organization,
    fails: [404, 409, 501],
  }),
}

const entityType = z.enum(['user', 'group'])
const Entity = z.object({ orgId: uuid, entityType, entityId: uuid })

const AccessMember = z
  .object({
    type: entityType,
    id: uuid,
    roles: z.array(z.string()),
    status: z.enum(['active', 'invited', 'revoked']),
    createdAt: ms,
  })
  .meta({ id: 'AccessMember', description: 'Roles granted to a user or group in an organisation, besides those a user has of his own.' })
export type AccessMember = z.output<typeof AccessMember>

const AccessList = z.object({ items: z.array(z.object({ members: z.array(AccessMember) })) })
const AccessCheck = z.object({ is_authorised: z.boolean(), roles: z.string().describe('Role ids joined by commas; empty when none.') })

/** Switched carries a fresh token when the caller switched himself with a token: the token at hand stays in the organisation it was made for. */
const Switched = z.object({ token: z.string().optional(), token_type: z.literal('Bearer').optional(), expires_at: sec.optional() })

export const access = {
  list: endpoint({
    method: 'GET',
    path: '/organizations/{orgId}/access',
    permission: 'access_read',
    tier: 'X',
    summary: 'The roles granted to users and groups in an organisation',
    reply: AccessList,
    fails: [404],
  }),
  listOwn: endpoint({
    method: 'GET',
    path: '/access',
    permission: 'access_read',
    tier: 'X',
    summary: 'The roles granted to users and groups in the organisation of the caller',
    reply: AccessList,
  }),
  grant: endpoint({
    method: 'POST',
    path: '/organizations/{orgId}/access/{entityType}/{entityId}',
    permission: 'access_write',
    tier: 'X',
    summary: 'Grant roles to a user or group, in place of what was granted before',
    description: 'Roles count while `status` is `active`. Nobody grants more than he holds.',
    params: Entity,
    body: z.object({ roles: list(text(1, 255), { min: 1 }), status: z.enum(['active', 'invited']) }),
    fails: [404],
  }),
  revoke: endpoint({
    method: 'DELETE',
    path: '/organizations/{orgId}/access/{entityType}/{entityId}',
    permission: 'access_delete',
    tier: 'X',
    summary: 'Revoke what a user or group was granted; nothing granted is no error',
    params: Entity,
    fails: [404],
  }),
  check: endpoint({
    method: 'GET',
    path: '/organizations/{orgId}/access/{entityType}/{entityId}/check',
    permission: 'access_read',
    exception: 'self',
    tier: 'X',
    summary: 'Whether a user or group may act in an organisation, and in which roles',
    params: Entity,
    reply: AccessCheck,
    fails: [404],
  }),
  checkOwn: endpoint({
    method: 'GET',
    path: '/access/check',
    permission: 'any',
    tier: 'X',
    summary: 'Whether a user may act in the organisation of the caller, and in which roles',
    description: 'Without `user_id` a user asks about himself; asking about others needs `access_read`.',
    query: z.object({ user_id: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid.optional()) }),
    reply: AccessCheck,
  }),
  switch: endpoint({
    method: 'POST',
    path: '/organizations/{orgId}/access/user/{userId}/switch',
    permission: 'access_write',
    exception: 'self',
    tier: 'X',
    summary: 'Make an organisation the one a user acts in',
    description: 'A user who switches himself receives a token for that organisation; later logins land there too.',
    reply: Switched,
    fails: [404],
  }),
  switchOwn: endpoint({
    method: 'POST',
    path: '/access/switch',
    permission: 'any',
    tier: 'X',
    summary: 'Make an organisation the one the caller acts in',
    description: 'Without `org_id` the organisation of the request. Naming another user in `user_id` needs `access_write`.',
    body: z.object({ org_id: uuid.optional(), user_id: uuid.optional() }).default({}),
    reply: Switched,
    fails: [404],
  }),
}
