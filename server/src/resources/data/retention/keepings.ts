import type { World } from '../../../world.ts'
import { type Keeping, keepingOf, type Rules, retentionCutoffMs } from './decide.ts'
import { type RuleRow, selectAllRules, selectLiving, selectRules } from './rows.ts'

type KeepingWorld = Pick<World, 'meta' | 'deployment'>

/** rulesOf is what decides in one organisation; it is cached, since every question about events needs it. */
export const rulesOf = async (world: KeepingWorld, orgId: string): Promise<Rules> => {
  const rows = await world.meta.cached(orgId, 'retention-rules', () => selectRules(world.meta, orgId))
  return rulesFrom(rows, world.deployment.retentionDays)
}

function rulesFrom(rows: readonly RuleRow[], deploymentDays: number | undefined): Rules {
  return {
    collections: new Map(rows.flatMap((row) => (row.entity === 'LOG_SET' ? [[row.collection, row.retention] as const] : []))),
    organisation: rows.find(({ entity }) => entity === 'ORGANISATION')?.retention,
    deploymentDays,
  }
}

/** keptSince tells of each dataset of an organisation the time before which its events are not found any more, as of now. */
export async function keptSince(
  world: KeepingWorld & Pick<World, 'clock'>,
  orgId: string,
): Promise<(dataset: Parameters<typeof keepingOf>[0]) => number | undefined> {
  const rules = await rulesOf(world, orgId)
  const nowMs = world.clock.nowMs()
  return (dataset) => retentionCutoffMs(keepingOf(dataset, rules), nowMs)
}

type Kept = { id: string; keeping: Keeping; cutoffMs: number | undefined }

/** keepings says for every dataset of the deployment how long its events are kept. */
export async function keepings(world: KeepingWorld, nowMs: number): Promise<Kept[]> {
  const rows = Map.groupBy(await selectAllRules(world.meta), ({ org_id }) => org_id)
  const rules = new Map<string, Rules>()
  return (await selectLiving(world.meta)).map((dataset) => {
    const own = rules.get(dataset.org_id) ?? rulesFrom(rows.get(dataset.org_id) ?? [], world.deployment.retentionDays)
    rules.set(dataset.org_id, own)
    const keeping = keepingOf(dataset, own)
    return { id: dataset.id, keeping, cutoffMs: retentionCutoffMs(keeping, nowMs) }
  })
}
