import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Identity, integerParameter, ms, textParameter, uuid } from './values.ts'

const AuditRecord = z
  .object({
    id: uuid,
    time: ms,
    actor: Identity.nullish().describe('Absent when the caller was not identified, as in a failed login.'),
    actor_name: z.string(),
    address: z.string(),
    user_agent: z.string(),
    action: z.string().describe('The name of the endpoint in the contract, such as `datasets.create`.'),
    outcome: z.enum(['done', 'refused']),
    entity_type: z.string(),
    entity_id: z.string(),
    before: z.looseObject({}).nullish(),
    after: z.looseObject({}).nullish(),
    correlation_id: z.string(),
  })
  .meta({
    id: 'AuditRecord',
    description: 'One change or refused attempt: actor, address, action, record, and the record before and after.',
  })

export const audit = {
  list: endpoint({
    method: 'GET',
    path: '/audit',
    permission: 'audit_read',
    tier: 'D',
    summary: 'List the audit trail, newest first',
    query: z.object({
      from_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
      to_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
      action: textParameter(255),
      entity_id: textParameter(255),
      actor_id: textParameter(255),
      before_id: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid.optional()),
      limit: integerParameter(1, 1000).default(100),
    }),
    reply: z.object({ audit: z.array(AuditRecord) }),
  }),
}
