import type { JobKind } from './jobs/jobs.ts'
import { exporting } from './resources/exports/run.ts'
import { ledgerRecount } from './resources/ledger/recounting.ts'
import { notificationDelivery } from './resources/notifications/delivery.ts'
import { orphanSweep } from './resources/retention/orphans.ts'
import { eventRemoval } from './resources/retention/removal.ts'
import type { World } from './world.ts'

/** jobKinds are the work that survives a restart: what is not in this list is never done. */
export const jobKinds = (world: World): readonly JobKind[] => [
  ledgerRecount(world),
  eventRemoval(world),
  orphanSweep(world),
  notificationDelivery(world),
  exporting(world),
]
