import { parseAddress } from '../../../events/store/address.ts'
import type { JobRun } from '../../../jobs/job.ts'
import type { BackupPolicy, World } from '../../../world.ts'
import type { BackupTaskRow } from './rows.ts'

/** What a task has found out; the rest of its row stays. */
export type TaskResult = Partial<Pick<BackupTaskRow, 'backup' | 'made_at' | 'rows'>>

export const storeOf = (world: World, { place }: BackupPolicy, job: JobRun) => ({
  clock: world.clock,
  outside: world.events.writer,
  signal: job.signal,
  place,
  database: parseAddress(world.events.url).database,
  newId: () => world.ids.uuid().replaceAll('-', ''),
})
export type TaskStore = ReturnType<typeof storeOf>
