import type { BackupPolicy } from '../../../world.ts'
import type { BackupTaskRow } from './rows.ts'

type Latest = readonly Pick<BackupTaskRow, 'task' | 'status' | 'created_at' | 'made_at' | 'backup'>[]
type Intervals = Pick<BackupPolicy, 'everyMs' | 'verifyEveryMs'>

/** A failed task of the schedule is repeated after this time, or after its interval when that is shorter. */
const RETRY_MS = 15 * 60_000
/** A backup may take this long before it counts as late. */
const LATE_MS = 3_600_000

/** The moments of the last backup and of the last one that passed a verification. */
export type BackupAges = { madeMs: number | undefined; verifiedMs: number | undefined }

export const agesOf = (latest: Latest): BackupAges => ({
  madeMs: lastOf(latest, 'BACKUP', true)?.made_at ?? undefined,
  verifiedMs: lastOf(latest, 'VERIFICATION', true)?.made_at ?? undefined,
})

/** Which tasks the schedule begins now. */
export function dueTasks(latest: Latest, { everyMs, verifyEveryMs }: Intervals, nowMs: number): ('BACKUP' | 'VERIFICATION')[] {
  if (everyMs === undefined) return []
  const backup = isDue(lastOf(latest, 'BACKUP'), everyMs, nowMs)
  const hasBackup = lastOf(latest, 'BACKUP', true) !== undefined
  const verification = verifyEveryMs !== undefined && hasBackup && isDue(lastOf(latest, 'VERIFICATION'), verifyEveryMs, nowMs)
  return [...(backup ? (['BACKUP'] as const) : []), ...(verification ? (['VERIFICATION'] as const) : [])]
}

function isDue(last: Latest[number] | undefined, everyMs: number, nowMs: number): boolean {
  switch (last?.status) {
    case undefined:
      return true
    case 'CREATED':
    case 'IN_PROGRESS':
      return false
    case 'FAILED':
      return nowMs - last.created_at >= Math.min(everyMs, RETRY_MS)
    case 'COMPLETE':
      return nowMs - last.created_at >= everyMs
  }
}

/** What is wrong with backups, for everybody to read: no reasons, which may name places. Only backups of a schedule are late. */
export function backupProblems(latest: Latest, { everyMs, verifyEveryMs }: Intervals, nowMs: number): string[] {
  const verification = lastOf(latest, 'VERIFICATION')
  const damaged = verification?.status === 'FAILED' ? [`the backup ${verification.backup} failed its verification`] : []
  if (everyMs === undefined) return damaged
  const { madeMs, verifiedMs } = agesOf(latest)
  const late: string[] = []
  if (madeMs === undefined) {
    if (lastOf(latest, 'BACKUP')?.status === 'FAILED') late.push('no backup has been made: the last attempt failed')
  } else if (nowMs - madeMs > 2 * everyMs + LATE_MS) late.push(`the last backup is ${hours(nowMs - madeMs)} old`)
  const verifiedLateMs = verifyEveryMs === undefined ? Number.POSITIVE_INFINITY : 2 * verifyEveryMs + everyMs + LATE_MS
  if (damaged.length === 0 && verifiedMs !== undefined && nowMs - verifiedMs > verifiedLateMs) {
    late.push(`the last verified backup is ${hours(nowMs - verifiedMs)} old`)
  }
  return [...late, ...damaged]
}

const hours = (ms: number): string => `${Math.round(ms / 3_600_000)} hours`

const lastOf = (latest: Latest, task: BackupTaskRow['task'], isComplete = false): Latest[number] | undefined =>
  latest
    .filter((row) => row.task === task && (!isComplete || row.status === 'COMPLETE'))
    .toSorted((one, other) => other.created_at - one.created_at)[0]
