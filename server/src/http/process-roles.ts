import { unavailable } from '../kernel/errors.ts'

/** What a process of a deployment does: `api` is the REST API and the web app, `ingest` takes events, `work` runs jobs and evaluations. */
export type ProcessRole = 'api' | 'ingest' | 'work'
export const ROLES: readonly ProcessRole[] = ['api', 'ingest', 'work']

/** The role that a request needs; every process serves `any`. */
export type ServedBy = ProcessRole | 'any'

/**
 * Refuses a request that a process with other roles serves. It may be repeated: behind a proxy the next one may reach the right process, and senders of events
 * keep them.
 */
export function refuseOtherRoles(roles: readonly ProcessRole[], needed: ServedBy): void {
  if (needed === 'any' || roles.includes(needed)) return
  throw unavailable(`this process does not have the role ${needed} that serves this request; DENDRO_ROLES is ${roles.join(',')}`)
}
