import type { JobKind } from './jobs/jobs.ts'
import { exportRemoval } from './resources/exports/removal.ts'
import { exporting } from './resources/exports/run.ts'
import { ledgerRecount } from './resources/ledger/recounting.ts'
import { ledgerRollup } from './resources/ledger/rolling.ts'
import { monitorSweep, startWatching } from './resources/monitors/watching.ts'
import { notificationDelivery } from './resources/notifications/delivery.ts'
import { orphanSweep } from './resources/retention/orphans.ts'
import { eventRemoval } from './resources/retention/removal.ts'
import type { World } from './world.ts'

/**
 * Work is what a process does besides answering: jobs, one process each, and loops of every process, which share what they do themselves.
 * Every sweepEveryMs it removes what is old by its clock, of the whole deployment; without one it leaves that to others.
 */
export type Work = {
  kinds: readonly JobKind[]
  loops: readonly ((world: World) => { close(): Promise<void> })[]
  sweepEveryMs?: number
}

const SWEEP_EVERY_MS = 60_000

export const allWork = (world: World): Work => ({ kinds: jobKinds(world), loops: [startWatching], sweepEveryMs: SWEEP_EVERY_MS })

/** jobKinds are the work that survives a restart: what is not in this list is never done. */
export const jobKinds = (world: World): readonly JobKind[] => [
  monitorSweep(world),
  ledgerRecount(world),
  ledgerRollup(world),
  eventRemoval(world),
  orphanSweep(world),
  notificationDelivery(world),
  exporting(world),
  exportRemoval(world),
]
