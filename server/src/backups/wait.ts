import type { ClickHouseClient } from '@clickhouse/client'
import type { Clock } from '../kernel/clock.ts'
import { type BackupState, cancelBackup, selectBackupState } from './rows.ts'

const POLL_MIN_MS = 20
const POLL_MAX_MS = 2_000
const DONE: readonly string[] = ['BACKUP_CREATED', 'RESTORED']
const UNDERWAY: readonly string[] = ['CREATING_BACKUP', 'RESTORING']
const REASON_CHARACTERS_MAX = 500

/** The statements of a backup go on in the store without a connection, because they may take hours. */
export type StoreTask = { clock: Clock; outside: ClickHouseClient; signal?: AbortSignal | undefined }

/** Waits for a backup or restore that has been started. When the signal aborts, the store gives it up. */
export async function waitForStore({ clock, outside, signal }: StoreTask, id: string): Promise<BackupState> {
  for (let pollMs = POLL_MIN_MS; ; pollMs = Math.min(2 * pollMs, POLL_MAX_MS)) {
    const state = await selectBackupState(outside, id)
    if (!state) throw new Error('the event store has started again and knows nothing of it')
    if (DONE.includes(state.status)) return state
    if (!UNDERWAY.includes(state.status)) throw new Error(`the event store gave up: ${reasonOf(state.error)}`)
    await clock.sleep(pollMs, signal).catch(() => undefined)
    if (signal?.aborted) {
      await cancelBackup(outside, id)
      throw new Error('the work was stopped')
    }
  }
}

/** The store's message without its stack trace. */
const reasonOf = (error: string): string =>
  error
    .replace(/, Stack trace[\s\S]*$/, '')
    .replace(/^Code: \d+\. DB::Exception: /, '')
    .slice(0, REASON_CHARACTERS_MAX)
