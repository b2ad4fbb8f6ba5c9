import type { Actor } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { isLimited } from '../policies/policies.ts'
import { type AuditQuery, type AuditRow, selectAudit } from './rows.ts'

/** The kinds of records that never mention a log. */
const DATASET_FREE_TYPES: ReadonlySet<string> = new Set([
  'access',
  'agent_config',
  'api_key',
  'chat_integration',
  'chat_workspace',
  'customer',
  'email_template',
  'encryption_key',
  'group',
  'identity_provider',
  'limit',
  'organisation',
  'path',
  'policy',
  'role',
  'sso_mapping',
  'statement_set',
  'user',
  'webhook',
])

/**
 * Lists records, newest first; `before_id` is the last id of the previous page. Callers limited by a policy see who changed what and when, but no
 * contents of records that may mention a log: the datasets they referred to at that time are unknown.
 */
export async function listAudit(world: Pick<World, 'meta'>, actor: Actor, query: AuditQuery): Promise<AuditRow[]> {
  const { from_ts = 0, to_ts = from_ts } = query
  if (from_ts > to_ts) throw badField('from_ts', 'must not be later than to_ts', 'OUT_OF_RANGE')
  const rows = await selectAudit(world.meta, actor.orgId, query)
  if (!(await isLimited(world, actor))) return rows
  return rows.map((row) => (DATASET_FREE_TYPES.has(row.entity_type) ? row : { ...row, before: null, after: null }))
}
