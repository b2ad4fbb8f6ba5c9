import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findTask, listBackups, requestBackup, requestRestoration, requestVerification } from './backups.ts'

export const backupRoutes = (world: World): Routes =>
  routes('backups', contract.backups, {
    list: ({ actor }) => listBackups(world, actor),
    create: ({ actor }) => requestBackup(world, actor),
    task: ({ actor, params }) => findTask(world, actor, params.taskId),
    verify: ({ actor, params }) => requestVerification(world, actor, params.backupName),
    restore: ({ actor, params, body }) => requestRestoration(world, actor, params, body),
  })
