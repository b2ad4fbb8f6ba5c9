import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import { eventsTables } from '../../lines/layout/table.ts'
import type { EventChange } from '../store/event-changes.ts'
import type { EventStore } from '../store/events.ts'
import { type DeletionTarget, dropPart, rowsOfParts, runningDeletions, selectRowsToDelete, startDeletion } from './rows.ts'

export {
  countTargetedEvents,
  type DeletionTarget,
  type OldEvents,
  oldestEventMs,
  selectStoredLogs,
} from './rows.ts'

export type DeletionDeps = {
  clock: Clock
  log: Logger
  /** Ends the wait. A deletion that the store has begun continues. */
  signal: AbortSignal
  /** False pauses rewriting. Whole parts are still dropped, which is free. */
  mayRewrite: boolean
}

export type DeletionResult = {
  /** Deleted events by dataset. */
  removed: Map<string, number>
  /** Events by dataset that still need rewriting. */
  waiting: Map<string, number>
  /** The time spent rewriting. */
  rewritingMs: number
}

/** Bounds the length of a statement. */
const LOGS_MAX = 2_000
const DAY_MS = 86_400_000
const POLL_MS = 500
/** Error code for a part that was merged meanwhile; the next deletion finds its rows in the merged part. */
const NO_SUCH_PART = '232'

/**
 * Deletes events and returns when they are gone. Parts in which every row is deleted are dropped, which takes no time and no space. Other parts are
 * rewritten by one mutation per table: each mutation recreates every part, if only by hard links, so the number of mutations matters, not their size.
 */
export async function deleteEvents(store: EventStore, targets: readonly DeletionTarget[], deps: DeletionDeps): Promise<DeletionResult> {
  const changes = unfinishedChanges(store)
  for (const { logIds, old } of targets) {
    const toMs = old ? old.beforeDay * DAY_MS : Number.POSITIVE_INFINITY
    const change = store.changes?.begin(logIds, { fromMs: Number.NEGATIVE_INFINITY, toMs })
    if (change) changes.add(change)
  }
  const result = await deleteTargets(store, targets, deps)
  // After a failure, deletions may go on in the store, until a later call has waited for them.
  for (const change of changes) change.end()
  changes.clear()
  return result
}

const unfinished = new WeakMap<EventStore, Set<EventChange>>()

function unfinishedChanges(store: EventStore): Set<EventChange> {
  const changes = unfinished.get(store) ?? new Set()
  unfinished.set(store, changes)
  return changes
}

/** Notes deletions that an earlier process has begun and that still run. */
export async function noteRunningDeletions(store: EventStore): Promise<void> {
  if (!store.changes || (await runningDeletions(store)).length === 0) return
  unfinishedChanges(store).add(store.changes.beginAnywhere())
}

async function deleteTargets(store: EventStore, targets: readonly DeletionTarget[], deps: DeletionDeps): Promise<DeletionResult> {
  const result: DeletionResult = { removed: new Map(), waiting: new Map(), rewritingMs: 0 }
  const batches = batchesOf(targets).flatMap((batch) => eventsTables.map((table) => ({ table, batch })))
  // Drop parts first, which needs no space: on a full disk nothing can be rewritten.
  for (const { table, batch } of batches) {
    if (store.cluster === undefined) addAll(result.removed, await dropWholeParts(store, table, batch, deps))
  }
  // A mutation of an earlier run or process may still be running.
  if (batches.length > 0 || unfinishedChanges(store).size > 0) await waitForDeletions(store, deps)
  for (const { table, batch } of batches) await rewrite(store, table, batch, deps, result)
  return result
}

async function rewrite(
  store: EventStore,
  table: string,
  targets: readonly DeletionTarget[],
  deps: DeletionDeps,
  result: DeletionResult,
): Promise<void> {
  const left = new Map<string, number>()
  for (const { logId, events } of await selectRowsToDelete(store, table, targets)) add(left, logId, events)
  if (left.size === 0) return
  if (!deps.mayRewrite) {
    addAll(result.waiting, left)
    return
  }
  deps.signal.throwIfAborted()
  const startedMs = deps.clock.monotonicMs()
  const narrowed = targets.map((target) => ({ ...target, logIds: target.logIds.filter((logId) => left.has(logId)) }))
  await startDeletion(
    store,
    table,
    narrowed.filter(({ logIds }) => logIds.length > 0),
  )
  await waitForDeletions(store, deps)
  result.rewritingMs += deps.clock.monotonicMs() - startedMs
  addAll(result.removed, left)
}

async function dropWholeParts(
  store: EventStore,
  table: string,
  targets: readonly DeletionTarget[],
  { log, signal }: DeletionDeps,
): Promise<Map<string, number>> {
  const dropped = new Map<string, number>()
  const rowsToDelete = await selectRowsToDelete(store, table, targets)
  if (rowsToDelete.length === 0) return dropped
  const sizes = await rowsOfParts(store, table)
  for (const [part, rows] of Map.groupBy(rowsToDelete, (one) => one.part)) {
    if (rows.reduce((sum, { events }) => sum + events, 0) !== sizes.get(part)) continue
    signal.throwIfAborted()
    try {
      await dropPart(store, table, part)
      for (const { logId, events } of rows) add(dropped, logId, events)
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === NO_SUCH_PART)) throw cause
      log.debug({ table, part }, 'a part was merged before it could be dropped')
    }
  }
  return dropped
}

/** Waits for running deletions. Throws when one fails, since the store retries forever. */
async function waitForDeletions(store: EventStore, { clock, signal }: DeletionDeps): Promise<void> {
  for (;;) {
    const running = await runningDeletions(store)
    if (running.length === 0) return
    const stuck = running.find(({ failure }) => failure !== '')
    if (stuck) throw new Error(`the event store cannot remove events from ${stuck.table}: ${stuck.failure}`)
    await clock.sleep(POLL_MS, signal)
  }
}

/** Splits targets so that no statement names more than LOGS_MAX datasets. */
function batchesOf(targets: readonly DeletionTarget[]): DeletionTarget[][] {
  const batches: DeletionTarget[][] = []
  let free = 0
  for (const { logIds, ...which } of targets) {
    for (let from = 0; from < logIds.length; ) {
      if (free === 0) {
        batches.push([])
        free = LOGS_MAX
      }
      const some = logIds.slice(from, from + free)
      batches.at(-1)?.push({ ...which, logIds: some })
      free -= some.length
      from += some.length
    }
  }
  return batches
}

function add(to: Map<string, number>, logId: string, events: number): void {
  to.set(logId, (to.get(logId) ?? 0) + events)
}

function addAll(to: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [logId, events] of from) add(to, logId, events)
}
