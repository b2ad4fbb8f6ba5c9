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
    .describe('The tags whose values, in this order, form the collection name of events that name no collection.'),
})

const OrganizationSettings = z.strictObject({
  dcr_enabled: z.boolean().optional().describe('Whether tools may register themselves as OAuth clients; stored without effect.'),
  out_of_order: z.boolean().optional().describe('Stored without effect: late events are always accepted and searchable.'),
  multi_org_group: text(0, 255).optional().describe('The default group shared by organizations; stored without effect.'),
  shared_datasets: z.boolean().optional().describe("Cannot be enabled: organizations never read each other's events."),
})

export const Organization = z
  .object({
    id: uuid,
    name: text(1, 255),
    login_methods: z.array(LoginMethod),
    description: z.string().optional(),
    active: z.boolean().describe('Whether the caller acts in this organization.'),
    management_resource: uuid.optional().describe('The organization that manages this one.'),
    is_management_org: z.boolean(),
    contract_type: z.enum(['PAID', 'TRIAL', 'FREE']),
    region,
    metadata: Metadata,
    partition_tags: PartitionTags.optional(),
    settings: OrganizationSettings.optional(),
  })
  .meta({ id: 'Organization' })
export type Organization = z.output<typeof Organization>

const OrganizationChange = z.object({
  name: text(1, 255).optional(),
  description: text(0, 4000).optional(),
  login_methods: list(LoginMethod, { min: 1 })
    .refine((methods) => isUnique(methods.map((method) => method.name.toLowerCase())), { error: 'must not name a method twice' })
    .optional(),
  partition_tags: PartitionTags.optional(),
  settings: OrganizationSettings.optional().describe('Changes the given members and keeps the others.'),
})

export const organizations = {
  list: endpoint({
    method: 'GET',
    path: '/organizations',
    permission: 'logs_read',
    tier: 'X',
    summary: 'List the organizations that the caller belongs to or manages; `active` marks that of the request',
    reply: z.object({ organisations: z.array(Organization) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/organizations',
    permission: 'customer_write',
    tier: 'X',
    summary: 'Create an organization; for administrators of the management organization',
    description:
      'The response has `first_key`, an AdminApi key of the new organization, shown this once only. A user who creates an organization is granted Admin in it and may switch to it.',
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
    summary: 'One organization',
    reply: Organization,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/organizations/{orgId}',
    permission: 'customer_write',
    tier: 'X',
    summary: 'Update an organization: name, description or settings',
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
  .meta({ id: 'AccessMember', description: "Roles granted to a user or group in an organization, in addition to the user's own roles." })
export type AccessMember = z.output<typeof AccessMember>

const AccessList = z.object({ items: z.array(z.object({ members: z.array(AccessMember) })) })
const AccessCheck = z.object({ is_authorised: z.boolean(), roles: z.string().describe('Role ids joined by commas; empty when none.') })

/** Has a new token when callers switch themselves with a token: the current token stays in its organization. */
const Switched = z.object({ token: z.string().optional(), token_type: z.literal('Bearer').optional(), expires_at: sec.optional() })

export const access = {
  list: endpoint({
    method: 'GET',
    path: '/organizations/{orgId}/access',
    permission: 'access_read',
    tier: 'X',
    summary: 'List the roles granted to users and groups in an organization',
    reply: AccessList,
    fails: [404],
  }),
  listOwn: endpoint({
    method: 'GET',
    path: '/access',
    permission: 'access_read',
    tier: 'X',
    summary: "List the roles granted to users and groups in the caller's organization",
    reply: AccessList,
  }),
  grant: endpoint({
    method: 'POST',
    path: '/organizations/{orgId}/access/{entityType}/{entityId}',
    permission: 'access_write',
    tier: 'X',
    summary: 'Set the granted roles of a user or group',
    description: 'Roles apply while `status` is `active`. Callers can grant only permissions that they hold.',
    params: Entity,
    body: z.object({ roles: list(text(1, 255), { min: 1 }), status: z.enum(['active', 'invited']) }),
    fails: [404],
  }),
  revoke: endpoint({
    method: 'DELETE',
    path: '/organizations/{orgId}/access/{entityType}/{entityId}',
    permission: 'access_delete',
    tier: 'X',
    summary: 'Revoke the granted roles of a user or group, if any',
    params: Entity,
    fails: [404],
  }),
  check: endpoint({
    method: 'GET',
    path: '/organizations/{orgId}/access/{entityType}/{entityId}/check',
    permission: 'access_read',
    exception: 'self',
    tier: 'X',
    summary: 'Check the access and roles of a user or group in an organization',
    params: Entity,
    reply: AccessCheck,
    fails: [404],
  }),
  checkOwn: endpoint({
    method: 'GET',
    path: '/access/check',
    permission: 'any',
    tier: 'X',
    summary: "Check the access and roles of a user in the caller's organization",
    description: 'Without `user_id`, it checks the calling user; other users require `access_read`.',
    query: z.object({ user_id: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid.optional()) }),
    reply: AccessCheck,
  }),
  switch: endpoint({
    method: 'POST',
    path: '/organizations/{orgId}/access/user/{userId}/switch',
    permission: 'access_write',
    exception: 'self',
    tier: 'X',
    summary: 'Switch the organization of a user',
    description: 'Users who switch themselves receive a token for that organization; later logins use it too.',
    reply: Switched,
    fails: [404],
  }),
  switchOwn: endpoint({
    method: 'POST',
    path: '/access/switch',
    permission: 'any',
    tier: 'X',
    summary: "Switch the caller's organization",
    description: 'Without `org_id`, the organization of the request. Another user in `user_id` requires `access_write`.',
    body: z.object({ org_id: uuid.optional(), user_id: uuid.optional() }).default({}),
    reply: Switched,
    fails: [404],
  }),
}
