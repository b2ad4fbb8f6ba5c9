import type { World } from '../../../world.ts'
import { deleteAllProcesses, deleteProcess, keepProcess } from './rows.ts'

/** LEASE_MS is after how long a process that was killed is known to be gone. It is renewed four times as often. */
const LEASE_MS = 20_000
export const PRESENCE_EVERY_MS = LEASE_MS / 4

type PresenceWorld = Pick<World, 'ids' | 'ledger' | 'meta'>

/**
 * A LedgerPresence lets the others know that a process is gone and what it had not written of the ledger is to be recounted. `leave` is called when nothing is
 * counted any more.
 */
type LedgerPresence = { keep(): Promise<void>; leave(): Promise<void> }

/** openLedgerPresence begins the presence of this process. Where the store is its own, every other one is gone, and the recount at the start is about it. */
export async function openLedgerPresence({ ids, ledger, meta }: PresenceWorld, leaseMs = LEASE_MS): Promise<LedgerPresence> {
  const id = ids.uuid()
  if (meta.server) await deleteAllProcesses(meta)
  await keepProcess(meta, id, leaseMs)
  return {
    keep: async () => void (await keepProcess(meta, id, leaseMs)),
    leave: async () => {
      await ledger.flush()
      await deleteProcess(meta, id)
    },
  }
}
