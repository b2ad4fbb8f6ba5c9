import { z } from 'zod'
import { datasetName } from './datasets.ts'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { list, listParameter, Metadata, ms, sec, Tags, text, textParameter, uuid } from './values.ts'

const ALLOWED = `Whether senders that can set no header may send events with the key as parameter \`token\` or \`api_key\` of the address.
Addresses end up in the logs of proxies and senders.`

const SECONDS_MAX = 600
const QUERIES_MAX = 1_000

const KeyQueryBudget = z
  .strictObject({
    seconds: z.int().min(1).max(SECONDS_MAX).optional().describe('Time limit of a query.'),
    bytes: z.int().min(1).optional().describe('Uncompressed bytes that a query may read.'),
    rows: z.int().min(1).optional().describe('Events that a query may scan.'),
    running: z.int().min(1).max(QUERIES_MAX).optional().describe('Queries that may run at once; further queries wait.'),
    waiting: z.int().min(0).max(QUERIES_MAX).optional().describe('Queries that may wait; more are refused with 429.'),
  })
  .meta({ id: 'ApiKeyQueryBudget' })
/** Limits of the queries of a key. They are not above those of its roles. */
export type KeyQueryBudget = z.output<typeof KeyQueryBudget>

const ownName = datasetName.refine((name) => !name.startsWith('.'), 'must not begin with a dot: such names belong to the system')

const EventDefaults = z
  .strictObject({
    collection: ownName.optional(),
    dataset: ownName.optional(),
    tags: Tags.optional().describe('Tags of the dataset and attributes of the events; those of a request take precedence.'),
  })
  .meta({ id: 'ApiKeyEventDefaults' })
/** Where the events of a key go unless a request or its listener says otherwise. They take precedence over names in the events. */
export type EventDefaults = z.output<typeof EventDefaults>

const ADDRESSES_MAX = 100
const ADDRESS_LENGTH_MAX = 50
const addresses = list(text(1, ADDRESS_LENGTH_MAX), { max: ADDRESSES_MAX })
const FROM = 'Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get 403.'

const OVERLAP_MAX_S = 30 * 86_400
const OVERLAP_S = 86_400

const DEFAULTS = 'Where events of this key go unless the request says otherwise, for senders that can send only a key.'

export const ApiKey = z
  .object({
    id: uuid,
    name: text(1, 255),
    api_key: z.string().describe('Short identifier that tells keys apart; not part of the secret.'),
    roles: z.array(z.string()),
    user_id: uuid
      .optional()
      .describe('The user as whom a personal key acts, with the permissions that both the user and the roles have; absent for other keys.'),
    is_suspended: z
      .boolean()
      .optional()
      .describe(
        'True when the identity provider has refused the user of a personal key: it works again once the user has signed on. Absent otherwise.',
      ),
    tags: Tags,
    allowed_in_address: z.boolean().describe(ALLOWED),
    expires_at: sec.optional().describe('Unix seconds; absent when the key never expires.'),
    expires_soon: z.boolean().optional().describe('True when the key expires within 14 days, or has expired; absent otherwise.'),
    allowed_addresses: z.array(z.string()).optional().describe(`${FROM} Absent when it may be used from anywhere.`),
    previous_key_expires_at: sec
      .optional()
      .describe('After a rotation, the time in Unix seconds until which the previous secret works too; absent when it does not.'),
    previous_key_used_at: ms.optional().describe('When the previous secret was last used, to the minute; absent when it was not.'),
    query_budget: KeyQueryBudget.optional().describe('Limits of the queries of this key; absent when those of its roles apply.'),
    event_defaults: EventDefaults.optional().describe(`${DEFAULTS} Absent when there are none.`),
    last_used_at: ms
      .optional()
      .describe('When the key last authenticated a request, to the minute: sending, searching or any other; absent before the first.'),
    last_used_address: z.string().optional().describe('The network address of that request.'),
    metadata: Metadata,
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.output<typeof ApiKey>

const KeyWithSecret = ApiKey.extend({ key: z.string() })

const TTL_MAX_S = 70_000_000

const lifetime = {
  ttl: z.int().min(0).max(TTL_MAX_S).optional().describe('Lifetime in seconds; absent or 0 means that the key never expires.'),
  expires_at: sec.optional(),
}
const hasOneLifetime = (key: { ttl?: number | undefined; expires_at?: number | undefined }): boolean =>
  key.ttl === undefined || key.expires_at === undefined
const ONE_LIFETIME = { error: 'and ttl exclude each other', path: ['expires_at'] }

const NewApiKey = z
  .object({
    name: text(1, 255),
    roles: list(text(1, 255), { min: 1 }),
    ...lifetime,
    tags: Tags.default({}),
    allowed_in_address: z.boolean().default(false).describe(ALLOWED),
    query_budget: KeyQueryBudget.optional(),
    event_defaults: EventDefaults.optional().describe(DEFAULTS),
    allowed_addresses: addresses.default([]).describe(`${FROM} Without any, it may be used from anywhere.`),
  })
  .refine(hasOneLifetime, ONE_LIFETIME)

const Rotation = z.object({
  overlap: z
    .int()
    .min(0)
    .max(OVERLAP_MAX_S)
    .default(OVERLAP_S)
    .describe('Seconds for which the previous secret keeps working; with 0 it ends at once.'),
  end_previous: z.boolean().default(false).describe('End the secret before the previous rotation at once, if it still works.'),
})

export const apiKeys = {
  list: endpoint({
    method: 'GET',
    path: '/api-keys',
    permission: 'api_keys_read',
    tier: 'S',
    summary: 'List the API keys of the organization, including expired ones',
    query: z.object({
      api_key_ids: listParameter(uuid).describe('Only these keys.'),
      role: textParameter(255).describe('Only keys that have this role.'),
      ...pageParameters,
      sort: sortParameter([]),
    }),
    reply: z.object({ api_keys: z.array(ApiKey), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api-keys',
    permission: 'api_keys_write',
    tier: 'C',
    summary: 'Create an API key; the response shows its secret `key` this once only',
    body: NewApiKey,
    status: 201,
    reply: KeyWithSecret,
  }),
  get: endpoint({
    method: 'GET',
    path: '/api-keys/{apiKeyId}',
    permission: 'api_keys_read',
    tier: 'X',
    summary: 'One API key',
    reply: ApiKey,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/api-keys/{apiKeyId}',
    permission: 'api_keys_write',
    tier: 'S',
    summary:
      'Change the name, roles, tags, expiry, query budget, event defaults or allowed addresses of an API key, or allow it as a parameter of the address, effective at once; the last AdminApi key keeps its role',
    body: z.object({
      name: text(1, 255).optional(),
      roles: list(text(1, 255), { min: 1 }).optional(),
      tags: Tags.optional().describe('Replaces all tags.'),
      expires_at: sec.nullable().optional().describe('Unix seconds; null removes the expiry.'),
      allowed_in_address: z.boolean().optional().describe(ALLOWED),
      query_budget: KeyQueryBudget.nullable().optional().describe('Replaces all limits; null removes them.'),
      event_defaults: EventDefaults.nullable().optional().describe('Replaces all defaults; null removes them.'),
      allowed_addresses: addresses.optional().describe(`${FROM} Replaces all; an empty list allows all addresses.`),
    }),
    reply: ApiKey,
    fails: [404, 409],
  }),
  rotate: endpoint({
    method: 'POST',
    path: '/api-keys/{apiKeyId}/rotate',
    permission: 'api_keys_write',
    tier: 'D',
    summary: 'Give an API key another secret, while the previous one works for a limited time',
    description: `The response shows the new secret \`key\` this once only. The key keeps its id, roles and settings. A key whose previous secret still works
is rotated again only with \`end_previous\`: senders may still use that secret.`,
    body: Rotation,
    reply: KeyWithSecret,
    fails: [404, 409],
  }),
  endPrevious: endpoint({
    method: 'DELETE',
    path: '/api-keys/{apiKeyId}/previous-secret',
    permission: 'api_keys_write',
    tier: 'D',
    summary: 'End the secret that an API key had before its last rotation',
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api-keys/{apiKeyId}',
    permission: 'api_keys_delete',
    tier: 'C',
    summary: 'Delete an API key, effective at once; the last AdminApi key cannot be deleted',
    fails: [404, 409],
  }),
}

const NewPersonalKey = z
  .object({
    name: text(1, 255),
    roles: list(text(1, 255), { min: 1 }).describe(
      'Roles of API keys. They limit the key and add nothing: with AdminApi it may do all that you may.',
    ),
    ...lifetime,
    allowed_addresses: addresses.default([]).describe(`${FROM} Without any, it may be used from anywhere.`),
  })
  .refine(hasOneLifetime, ONE_LIFETIME)

/** The keys of the calling user. They need a session, so that a key cannot create others. */
export const personalKeys = {
  list: endpoint({
    method: 'GET',
    path: '/auth/api-keys',
    permission: 'any',
    tier: 'D',
    summary: 'List your personal API keys',
    reply: z.object({ api_keys: z.array(ApiKey) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/auth/api-keys',
    permission: 'any',
    tier: 'D',
    summary: 'Create a personal API key; the response shows its secret `key` this once only',
    description: `A personal key acts as you. It has the permissions that both you and its roles have at the time of each request, sees the datasets that you
see, and works only while you may log in. Managing personal keys, passwords and sessions needs a bearer token.`,
    body: NewPersonalKey,
    status: 201,
    reply: KeyWithSecret,
    fails: [409],
  }),
  rotate: endpoint({
    method: 'POST',
    path: '/auth/api-keys/{apiKeyId}/rotate',
    permission: 'any',
    tier: 'D',
    summary: 'Give a personal API key another secret, while the previous one works for a limited time',
    body: Rotation,
    reply: KeyWithSecret,
    fails: [404, 409],
  }),
  endPrevious: endpoint({
    method: 'DELETE',
    path: '/auth/api-keys/{apiKeyId}/previous-secret',
    permission: 'any',
    tier: 'D',
    summary: 'End the secret that a personal API key had before its last rotation',
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/auth/api-keys/{apiKeyId}',
    permission: 'any',
    tier: 'D',
    summary: 'Delete a personal API key, effective at once',
    fails: [404],
  }),
}
