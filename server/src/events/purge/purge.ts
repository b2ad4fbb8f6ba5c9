import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { type TableClass, tableClasses, tableClassNames } from '../../lines/table.ts'
import type { EventStore } from '../store/events.ts'
import { type Doom, dropPart, removalsUnderWay, rowsOfParts, selectDoomed, startRemoval } from './rows.ts'

export { countDoomed, type Doom, type Old, oldestEventMs, selectHeldLogs } from './rows.ts'

export type RemovalDeps = {
  clock: Clock
  log: Log
  /** signal ends the waiting; a removal that the store has begun goes on without us. */
  signal: AbortSignal
  /** mayRewrite is false while the store shall rest from rewriting. Whole parts are dropped all the same, which costs nothing. */
  mayRewrite: boolean
}

export type Removal = {
  /** removed is how many events of which dataset are gone. */
  removed: Map<string, number>
  /** waiting is how many events of which dataset are still to be removed by rewriting. */
  waiting: Map<string, number>
  /** rewritingMs is how long the store was rewriting. */
  rewritingMs: number
}

/** LOGS_MAX bounds the text of a statement. */
const LOGS_MAX = 2_000
const POLL_MS = 500
/** NO_SUCH_PART is what the engine says of a part that was merged meanwhile; the next removal finds its rows elsewhere. */
const NO_SUCH_PART = '232'

/**
 * removeEvents removes doomed events and returns when they are gone. Parts of which every row is doomed are dropped, which takes no time and
 * no space. The others are rewritten without them, by one statement a table: the engine makes every part of a table anew for every such
 * statement, if only by links, so their number counts and not their size.
 */
export async function removeEvents(store: EventStore, dooms: readonly Doom[], deps: RemovalDeps): Promise<Removal> {
  const result: Removal = { removed: new Map(), waiting: new Map(), rewritingMs: 0 }
  const batches = batchesOf(dooms).flatMap((batch) => tableClassNames.map((tableClass) => ({ tableClass, batch })))
  // First what needs no space: on a full disk nothing can be rewritten until some is free.
  for (const { tableClass, batch } of batches) {
    if (store.cluster === undefined) addAll(result.removed, await dropWholeParts(store, tableClass, batch, deps))
  }
  // A statement of an earlier run may still be at work, also when this process was not there.
  if (batches.length > 0) await rewritingEnds(store, deps)
  for (const { tableClass, batch } of batches) await rewrite(store, tableClass, batch, deps, result)
  return result
}

async function rewrite(
  store: EventStore,
  tableClass: TableClass,
  dooms: readonly Doom[],
  deps: RemovalDeps,
  result: Removal,
): Promise<void> {
  const left = new Map<string, number>()
  for (const { logId, events } of await selectDoomed(store, tableClass, dooms)) add(left, logId, events)
  if (left.size === 0) return
  if (!deps.mayRewrite) {
    addAll(result.waiting, left)
    return
  }
  deps.signal.throwIfAborted()
  const startedMs = deps.clock.monotonicMs()
  const narrowed = dooms.map((doom) => ({ ...doom, logIds: doom.logIds.filter((logId) => left.has(logId)) }))
  await startRemoval(
    store,
    tableClass,
    narrowed.filter(({ logIds }) => logIds.length > 0),
  )
  await rewritingEnds(store, deps)
  result.rewritingMs += deps.clock.monotonicMs() - startedMs
  addAll(result.removed, left)
}

async function dropWholeParts(
  store: EventStore,
  tableClass: TableClass,
  dooms: readonly Doom[],
  { log, signal }: RemovalDeps,
): Promise<Map<string, number>> {
  const dropped = new Map<string, number>()
  const doomed = await selectDoomed(store, tableClass, dooms)
  if (doomed.length === 0) return dropped
  const sizes = await rowsOfParts(store, tableClass)
  for (const [part, rows] of Map.groupBy(doomed, (one) => one.part)) {
    if (rows.reduce((sum, { events }) => sum + events, 0) !== sizes.get(part)) continue
    signal.throwIfAborted()
    try {
      await dropPart(store, tableClass, part)
      for (const { logId, events } of rows) add(dropped, logId, events)
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === NO_SUCH_PART)) throw cause
      log.debug({ table: tableClasses[tableClass].table, part }, 'a part was merged before it could be dropped')
    }
  }
  return dropped
}

/** rewritingEnds waits for the store; what keeps it from ending is told, since it tries again by itself for ever. */
async function rewritingEnds(store: EventStore, { clock, signal }: RemovalDeps): Promise<void> {
  for (;;) {
    const underWay = await removalsUnderWay(store)
    if (underWay.length === 0) return
    const stuck = underWay.find(({ failure }) => failure !== '')
    if (stuck) throw new Error(`the event store cannot remove events from ${stuck.table}: ${stuck.failure}`)
    await clock.sleep(POLL_MS, signal)
  }
}

/** batchesOf cuts dooms so that no statement names more than LOGS_MAX datasets. */
function batchesOf(dooms: readonly Doom[]): Doom[][] {
  const batches: Doom[][] = []
  let room = 0
  for (const { logIds, ...which } of dooms) {
    for (let from = 0; from < logIds.length; ) {
      if (room === 0) {
        batches.push([])
        room = LOGS_MAX
      }
      const some = logIds.slice(from, from + room)
      batches.at(-1)?.push({ ...which, logIds: some })
      room -= some.length
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
