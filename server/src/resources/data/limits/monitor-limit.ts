import { createHash } from 'node:crypto'
import { Failure } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { countMonitors, type LimitRow, lockOrganization } from './rows.ts'

type Deployment = Pick<World, 'deployment'>

/** The operator's limit of monitors per organization, presented as a limit that only the operator can change; undefined without one. */
export function monitorLimit({ deployment: { monitorsMax } }: Deployment, orgId: string): LimitRow | undefined {
  if (monitorsMax === undefined) return undefined
  return {
    org_id: orgId,
    id: idOf(orgId),
    category: 'MONITOR_LIMITS',
    description: 'How many monitors the organization may have.',
    value: String(monitorsMax),
    unit: 'COUNT',
    target: 'ORGANISATION',
    scope: { organisation: { id: orgId } },
    team: '',
    type: 'SYSTEM',
    time_window: 'NO_WINDOW',
    created_at: 0,
    created_by: null,
    modified_at: 0,
    modified_by: null,
  }
}

/** Stable over restarts and settings, although the limit has no record. */
function idOf(orgId: string): string {
  const hex = createHash('sha256').update(`monitors of ${orgId}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Rejects a monitor beyond the limit; concurrent creations run one after the other. */
export async function checkMonitorLimit(world: Deployment, tx: Db, orgId: string): Promise<void> {
  const limit = monitorLimit(world, orgId)
  if (!limit) return
  await lockOrganization(tx, orgId)
  const count = (await countMonitors(tx, orgId))?.count ?? 0
  if (count < Number(limit.value)) return
  throw new Failure(400, `the limit of ${limit.value} monitors in an organization is reached: there are ${count}`, {
    errors: [{ field: 'limit', code: 'MONITOR_LIMIT', message: `limit ${limit.id} is reached` }],
  })
}
