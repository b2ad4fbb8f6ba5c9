import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { integerParameter, text, uuid } from './values.ts'

const PROVIDERS = ['AWS_KMS'] as const
const STATUSES = ['KEY_STATUS_UNSPECIFIED', 'CREATED', 'ACTIVE', 'DISABLED'] as const
export type EncryptionKeyStatus = (typeof STATUSES)[number]

const aliasArn = text(1, 2_048)
  .regex(/^arn:[A-Za-z0-9_-]+:kms:[a-z0-9-]*:[0-9]*:[A-Za-z0-9_/+=,.@-]+$/, { error: 'must be the ARN of a KMS key or alias' })
  .meta({ examples: ['arn:aws:kms:eu-west-1:123456789012:alias/logs'] })

const EncryptionKey = z
  .object({
    id: z.string(),
    org_id: uuid,
    name: z.string(),
    provider: z.enum(PROVIDERS),
    status: z.enum(STATUSES),
    aws_kms: z.object({ alias_arn: z.string(), region: z.string().optional() }).optional(),
  })
  .meta({ id: 'EncryptionKey', description: 'A key of the customer. The record is stored; the service does not encrypt with it yet.' })
export type EncryptionKey = z.output<typeof EncryptionKey>

const NewEncryptionKey = z.object({
  id: text(1, 255)
    .regex(/^[A-Za-z0-9_.:-]+$/, { error: 'must be of letters, digits and . _ : -' })
    .meta({ examples: ['logs-2026'] })
    .optional(),
  name: text(1, 255),
  provider: z.enum(PROVIDERS),
  aws_kms: z.object({ alias_arn: aliasArn, region: text(1, 63).optional() }),
})
export type NewEncryptionKey = z.output<typeof NewEncryptionKey>

const EncryptionKeyChange = z.object({ name: text(1, 255).optional(), status: z.enum(STATUSES).optional() })
export type EncryptionKeyChange = z.output<typeof EncryptionKeyChange>

/** Key ids are free text; a malformed one is 404, however long. */
const params = z.object({ keyId: z.string() })

export const encryptionKeys = {
  list: endpoint({
    method: 'GET',
    path: '/encryption-keys',
    permission: 'encryption_keys_read',
    tier: 'X',
    summary: 'List the encryption keys of the organization, newest first',
    query: z.object({
      provider: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value) || undefined, z.enum(PROVIDERS).optional()),
      limit: integerParameter(1, 100).default(50),
    }),
    reply: z.object({ keys: z.array(EncryptionKey) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/encryption-keys',
    permission: 'encryption_keys_write',
    tier: 'X',
    summary: 'Register an encryption key; the service does not encrypt with it yet',
    body: NewEncryptionKey,
    status: 201,
    reply: EncryptionKey,
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/encryption-keys/{keyId}',
    permission: 'encryption_keys_read',
    tier: 'X',
    summary: 'One encryption key',
    params,
    reply: EncryptionKey,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/encryption-keys/{keyId}',
    permission: 'encryption_keys_write',
    tier: 'X',
    summary: 'Rename an encryption key, or activate a CREATED one',
    params,
    body: EncryptionKeyChange,
    reply: EncryptionKey,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/encryption-keys/{keyId}',
    permission: 'encryption_keys_delete',
    tier: 'X',
    summary: 'Delete an encryption key that was never ACTIVE',
    params,
    fails: [404],
  }),
}
