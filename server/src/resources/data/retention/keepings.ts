import type { World } from '../../../world.ts'
import { type EffectiveRetention, effectiveRetention, type RetentionRules, retentionCutoffMs } from './decide.ts'
import { type RuleRow, selectAllRules, selectLiving, selectRules } from './rows.ts'

type RetentionWorld = Pick<World, 'meta' | 'deployment'>

/** The rules of an organization; cached, because every query for events needs them. */
export const rulesOf = async (world: RetentionWorld, orgId: string): Promise<RetentionRules> => {
  const rows = await world.meta.cached(orgId, 'retention-rules', () => selectRules(world.meta, orgId))
  return rulesFrom(rows, world.deployment.retentionDays)
}

function rulesFrom(rows: readonly RuleRow[], deploymentDays: number | undefined): RetentionRules {
  return {
    collections: new Map(rows.flatMap((row) => (row.entity === 'LOG_SET' ? [[row.collection, row.retention] as const] : []))),
    organisation: rows.find(({ entity }) => entity === 'ORGANISATION')?.retention,
    deploymentDays,
  }
}

/** For each dataset of an organization, the time before which its events are not found any more. */
export async function retentionCutoffs(
  world: RetentionWorld & Pick<World, 'clock'>,
  orgId: string,
): Promise<(dataset: Parameters<typeof effectiveRetention>[0]) => number | undefined> {
  const rules = await rulesOf(world, orgId)
  const nowMs = world.clock.nowMs()
  return (dataset) => retentionCutoffMs(effectiveRetention(dataset, rules), nowMs)
}

/** For each dataset of an organization, the days for which its events are kept; undefined without end. */
export async function retentionDays(
  world: RetentionWorld,
  orgId: string,
): Promise<(dataset: Parameters<typeof effectiveRetention>[0]) => number | undefined> {
  const rules = await rulesOf(world, orgId)
  return (dataset) => effectiveRetention(dataset, rules).days
}

type DatasetRetention = { id: string; keeping: EffectiveRetention; cutoffMs: number | undefined }

/** How long each dataset of the deployment keeps its events. */
export async function allEffectiveRetentions(world: RetentionWorld, nowMs: number): Promise<DatasetRetention[]> {
  const rows = Map.groupBy(await selectAllRules(world.meta), ({ org_id }) => org_id)
  const rules = new Map<string, RetentionRules>()
  return (await selectLiving(world.meta)).map((dataset) => {
    const own = rules.get(dataset.org_id) ?? rulesFrom(rows.get(dataset.org_id) ?? [], world.deployment.retentionDays)
    rules.set(dataset.org_id, own)
    const keeping = effectiveRetention(dataset, own)
    return { id: dataset.id, keeping, cutoffMs: retentionCutoffMs(keeping, nowMs) }
  })
}
