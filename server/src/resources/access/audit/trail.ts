import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { isLimited } from '../policies/policies.ts'
import { type AuditQuery, type AuditRow, selectAudit } from './rows.ts'

/** DATASET_FREE_TYPES are the kinds of records that never say anything of a log. */
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
  'limit',
  'organisation',
  'path',
  'policy',
  'role',
  'statement_set',
  'user',
  'webhook',
])

/**
 * listAudit gives the newest records first; `before_id` continues behind the last one of the page before. Whom a policy limits learns who changed
 * what and when, but not what stood in records that may say something of a log: what they referred to at that time nobody can tell for certain.
 */
export async function listAudit(world: Pick<World, 'meta'>, actor: Actor, query: AuditQuery): Promise<AuditRow[]> {
  const rows = await selectAudit(world.meta, actor.orgId, query)
  if (!(await isLimited(world, actor))) return rows
  return rows.map((row) => (DATASET_FREE_TYPES.has(row.entity_type) ? row : { ...row, before: null, after: null }))
}
