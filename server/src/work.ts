import type { JobKind } from './jobs/jobs.ts'
import { ledgerRecount } from './resources/ledger/recounting.ts'
import type { World } from './world.ts'

/** jobKinds are the work that survives a restart: what is not in this list is never done. */
export const jobKinds = (world: World): readonly JobKind[] => [ledgerRecount(world)]
