import { z } from 'zod'
import { datasetName } from './datasets.ts'
import { endpoint } from './endpoint.ts'
import { list, Metadata, ms, sec, Tags, text, uuid } from './values.ts'

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

const DEFAULTS = 'Where events of this key go unless the request says otherwise, for senders that can send only a key.'

export const ApiKey = z
  .object({
    id: uuid,
    name: text(1, 255),
    api_key: z.string().describe('Short identifier that tells keys apart; not part of the secret.'),
    roles: z.array(z.string()),
    tags: Tags,
    allowed_in_address: z.boolean().describe(ALLOWED),
    expires_at: sec.optional().describe('Unix seconds; absent when the key never expires.'),
    query_budget: KeyQueryBudget.optional().describe('Limits of the queries of this key; absent when those of its roles apply.'),
    event_defaults: EventDefaults.optional().describe(`${DEFAULTS} Absent when there are none.`),
    last_used_at: ms
      .optional()
      .describe('When the key last authenticated a request, to the minute: sending, searching or any other; absent before the first.'),
    metadata: Metadata,
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.output<typeof ApiKey>

const TTL_MAX_S = 70_000_000

const NewApiKey = z
  .object({
    name: text(1, 255),
    roles: list(text(1, 255), { min: 1 }),
    ttl: z.int().min(0).max(TTL_MAX_S).optional().describe('Lifetime in seconds; absent or 0 means that the key never expires.'),
    expires_at: sec.optional(),
    tags: Tags.default({}),
    allowed_in_address: z.boolean().default(false).describe(ALLOWED),
    query_budget: KeyQueryBudget.optional(),
    event_defaults: EventDefaults.optional().describe(DEFAULTS),
  })
  .refine((key) => key.ttl === undefined || key.expires_at === undefined, {
    error: 'and ttl exclude each other',
    path: ['expires_at'],
  })

export const apiKeys = {
  list: endpoint({
    method: 'GET',
    path: '/api-keys',
    permission: 'api_keys_read',
    tier: 'S',
    summary: 'List the API keys of the organization, including expired ones',
    reply: z.object({ api_keys: z.array(ApiKey) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api-keys',
    permission: 'api_keys_write',
    tier: 'C',
    summary: 'Create an API key; the response shows its secret `key` this once only',
    body: NewApiKey,
    status: 201,
    reply: ApiKey.extend({ key: z.string() }),
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
      'Change the name, roles, tags, expiry, query budget or event defaults of an API key, or allow it in addresses, effective at once; the last AdminApi key keeps its role',
    body: z.object({
      name: text(1, 255).optional(),
      roles: list(text(1, 255), { min: 1 }).optional(),
      tags: Tags.optional().describe('Replaces all tags.'),
      expires_at: sec.nullable().optional().describe('Unix seconds; null removes the expiry.'),
      allowed_in_address: z.boolean().optional().describe(ALLOWED),
      query_budget: KeyQueryBudget.nullable().optional().describe('Replaces all limits; null removes them.'),
      event_defaults: EventDefaults.nullable().optional().describe('Replaces all defaults; null removes them.'),
    }),
    reply: ApiKey,
    fails: [404, 409],
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
