import { contract, type ReplyOf } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import { unavailable } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import type { BackupWatch } from '../backups/backups.ts'
import type { CanaryWatch } from '../canary/canary.ts'
import type { HealthChecks } from './health.ts'

type BackupAge = ReplyOf<typeof contract.health.get>['backups']

async function backupAges({ clock }: Pick<World, 'clock'>, backups: BackupWatch): Promise<{ backups?: BackupAge }> {
  const ages = await backups.ages()
  if (!ages) return {}
  const ageOf = (ms: number) => Math.max(0, Math.round((clock.nowMs() - ms) / 1_000))
  return {
    backups: {
      ...(ages.madeMs === undefined ? {} : { age_s: ageOf(ages.madeMs) }),
      ...(ages.verifiedMs === undefined ? {} : { verified_age_s: ageOf(ages.verifiedMs) }),
    },
  }
}

async function canaryAge(
  { clock }: Pick<World, 'clock'>,
  canary: CanaryWatch,
): Promise<{ canary?: { found_after_ms: number; age_s: number } }> {
  const last = await canary.last()
  if (!last || last.found_ms === null || last.found_at === null) return {}
  return { canary: { found_after_ms: last.found_ms, age_s: Math.max(0, Math.round((clock.nowMs() - last.found_at) / 1_000)) } }
}

type ColdStorageHealth = ReplyOf<typeof contract.health.get>['cold_storage']

/** Left out while the store cannot say what lies where. */
async function coldStorage({ cold, events }: Pick<World, 'cold' | 'events'>): Promise<{ cold_storage?: ColdStorageHealth }> {
  const [sizes, reason] = await Promise.all([cold?.sizes().catch(() => undefined), events.cold?.unavailableReason()])
  return sizes ? { cold_storage: { status: reason === undefined ? 'ok' : 'down', ...sizes } } : {}
}

export const healthRoutes = (
  world: Pick<World, 'deployment' | 'disk' | 'clock' | 'cold' | 'events'>,
  health: HealthChecks,
  { backups, canary }: { backups: BackupWatch; canary: CanaryWatch },
  isStopping: () => boolean,
): Routes =>
  routes('health', contract.health, {
    get: async () => {
      const [failure] = await health.failures()
      if (failure !== undefined) throw unavailable(failure, { retryAfterS: 1 })
      const problems = await health.problems()
      return {
        status: problems.length === 0 ? ('ok' as const) : ('degraded' as const),
        problems,
        version: world.deployment.version,
        region: world.deployment.region,
        stores: { events: 'ok' as const, meta: 'ok' as const },
        disk: world.disk.state(),
        ...(await backupAges(world, backups)),
        ...(await canaryAge(world, canary)),
        ...(await coldStorage(world)),
      }
    },
    live: async () => ({ status: 'live' as const }),
    ready: async () => {
      if (isStopping()) throw unavailable('this process is about to stop')
      const [failure] = await health.failures()
      if (failure !== undefined) throw unavailable(failure, { retryAfterS: 1 })
      return { status: 'ready' as const }
    },
  })
