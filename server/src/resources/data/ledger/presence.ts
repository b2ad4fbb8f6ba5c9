import type { World } from '../../../world.ts'
import { deleteAllProcesses, deleteProcess, renewProcess } from './rows.ts'

/** The lease of a process. A killed process counts as gone when its lease has expired. */
const LEASE_MS = 20_000
/** The interval of renewals. */
export const PRESENCE_EVERY_MS = LEASE_MS / 4

type PresenceWorld = Pick<World, 'ids' | 'ledger' | 'meta'>

/**
 * The lease of this process. When it expires, other processes know that this one is gone and that its unwritten ledger counts must be recounted. `leave` is
 * called when the process no longer counts events.
 */
type LedgerPresence = { renew(): Promise<void>; leave(): Promise<void> }

/** Acquires the lease of this process. With the embedded store no other process can be running, so the other leases are deleted. The recount at the start covers their events. */
export async function openLedgerPresence({ ids, ledger, meta }: PresenceWorld, leaseMs = LEASE_MS): Promise<LedgerPresence> {
  const id = ids.uuid()
  if (meta.server) await deleteAllProcesses(meta)
  await renewProcess(meta, id, leaseMs)
  return {
    renew: async () => void (await renewProcess(meta, id, leaseMs)),
    leave: async () => {
      await ledger.flush()
      await deleteProcess(meta, id)
    },
  }
}
