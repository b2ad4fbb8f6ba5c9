import type { contract, QueryOf, ReplyOf, SpendGroup } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { wholeDatasets } from '../datasets/datasets.ts'
import { retentionDays } from '../retention/retention.ts'
import { ENDLESS_DAYS } from './price.ts'
import { selectUse } from './rows.ts'
import { findSavings, type SpendingDataset, type SpendingPart } from './savings.ts'
import { spendSettings } from './settings.ts'
import { readSpend } from './spend.ts'
import type { SpendWorld } from './spent.ts'

const DAY_MS = 86_400_000
/** The largest datasets, patterns and fields are looked at; the rest cannot save much. */
const GROUPS_MAX = 200
const SEVERITIES_BACK_MS = 3 * DAY_MS

/** The ways to save most of what arrived in the last 30 days. */
export async function readSavings(
  world: SpendWorld,
  actor: Actor,
  { limit }: QueryOf<typeof contract.spend.savings>,
): Promise<ReplyOf<typeof contract.spend.savings>> {
  const nowMs = world.clock.nowMs()
  const ask = { time_range: 'Last 30 days', limit: GROUPS_MAX, num_of_slices: 1, from: undefined, from_ts: undefined, to_ts: undefined }
  const [byDataset, byPattern, byField] = [
    await readSpend(world, actor, { ...ask, by: 'dataset' }),
    await readSpend(world, actor, { ...ask, by: 'pattern' }),
    await readSpend(world, actor, { ...ask, by: 'field' }),
  ]
  const { price } = await spendSettings(world, actor.orgId)
  const datasets = await spendingDatasets(world, actor, byDataset.groups, nowMs)
  const found = { datasets, patterns: byPattern.groups.map(partOf), fields: byField.groups.map(partOf) }
  return {
    start_time: byDataset.start_time,
    end_time: byDataset.end_time,
    ...(price ? { price } : {}),
    savings: findSavings({ ...found, price, nowMs, limit }),
  }
}

/** The listed datasets with what is known of their use. Rules and retentions are for datasets of users. */
async function spendingDatasets(world: SpendWorld, actor: Actor, groups: readonly SpendGroup[], nowMs: number): Promise<SpendingDataset[]> {
  const whole = new Map((await wholeDatasets(world, actor)).flatMap((row) => (row.is_system_generated ? [] : [[row.id, row] as const])))
  const daysOf = await retentionDays(world, actor.orgId)
  const ids = groups.flatMap(({ log_id }) => (log_id !== undefined && whole.has(log_id) ? [log_id] : []))
  const use = new Map((await selectUse(world.meta, actor.orgId, ids, nowMs - SEVERITIES_BACK_MS)).map((row) => [row.log_id, row]))
  return groups.flatMap(({ log_id = '', name, bytes }) => {
    const [row, used] = [whole.get(log_id), use.get(log_id)]
    if (!row || !used) return []
    const { created_at: createdAt, queried_ms: queriedMs, is_watched: isWatched, counted, debugs } = used
    return {
      logId: log_id,
      name,
      bytes: Number(bytes),
      days: daysOf(row) ?? ENDLESS_DAYS,
      createdAt,
      queriedMs,
      isWatched,
      counted,
      debugs,
    }
  })
}

const partOf = ({ log_id = '', name, bytes }: SpendGroup): SpendingPart => ({ logId: log_id, name, bytes: Number(bytes) })
