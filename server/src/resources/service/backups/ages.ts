import type { Meter } from '../../../http/measure.ts'
import { keptReading } from '../../../kernel/kept-reading.ts'
import type { World } from '../../../world.ts'
import type { HealthChecks } from '../health/health.ts'
import { agesOf, type BackupAges, backupProblems } from './due.ts'
import { type BackupTaskRow, selectLatestTasks } from './rows.ts'

const READ_EVERY_MS = 5_000

/** What health and metrics say about backups. */
export type BackupWatch = {
  ages(): Promise<BackupAges | undefined>
  problems(): Promise<string[]>
}

/** Reads the state of backups at most once in five seconds, and only where they are configured. */
export function openBackupWatch({ backups, clock, meta, log }: World, meter: Meter): BackupWatch {
  let known: readonly BackupTaskRow[] = []
  const latest = keptReading(READ_EVERY_MS, clock, async () => {
    const rows = await selectLatestTasks(meta)
    known = rows
    return rows
  })
  if (backups) {
    const age = (which: keyof BackupAges) => (): number => {
      // The scrape gets what was read last; the next one is current.
      latest().catch((err) => log.debug({ err }, 'the state of backups could not be read'))
      const ms = agesOf(known)[which]
      return ms === undefined ? Number.NaN : (clock.nowMs() - ms) / 1_000
    }
    meter.gauge('dendro_backup_age_seconds', 'Age of the last complete backup', age('madeMs'))
    meter.gauge('dendro_backup_verified_age_seconds', 'Age of the last backup that passed its verification', age('verifiedMs'))
    meter.gauge('dendro_backup_failed', '1 when the last backup or verification failed', () =>
      known.some(({ status, created_at, task }) => status === 'FAILED' && isLatest(known, task, created_at)) ? 1 : 0,
    )
  }
  return {
    ages: async () => (backups ? agesOf(await latest().catch(() => [])) : undefined),
    problems: async () => {
      if (!backups) return []
      const rows = await latest().catch(() => undefined)
      return rows ? backupProblems(rows, backups, clock.nowMs()) : ['it is not known when the last backup was made']
    },
  }
}

/** Adds late and damaged backups to the problems of the service. */
export const withBackups = (health: HealthChecks, watch: BackupWatch): HealthChecks => ({
  ...health,
  problems: async () => [...(await health.problems()), ...(await watch.problems())],
})

const isLatest = (rows: readonly BackupTaskRow[], task: string, createdAt: number): boolean =>
  rows.every((row) => row.task !== task || row.created_at <= createdAt)
