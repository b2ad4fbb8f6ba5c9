import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { dueTasks } from './due.ts'
import { addTask, newTask } from './new-task.ts'
import { selectLatestTasks } from './rows.ts'

const EVERY_MS = 60_000

/** Creates the tasks of the schedule. */
export const backupSchedule = (world: World): JobKind => ({
  name: 'backup_schedule',
  everyMs: EVERY_MS,
  isDueAtStart: true,
  run: async () => {
    if (!world.backups || world.events.cluster !== undefined) return undefined
    const due = dueTasks(await selectLatestTasks(world.meta), world.backups, world.clock.nowMs())
    for (const task of due) {
      await world.meta.write('*', (tx) => addTask(world, tx, newTask(world, { task, trigger: 'SCHEDULE', created_by: null })))
    }
    return undefined
  },
})
