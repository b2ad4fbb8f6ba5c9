import type { Clock } from '../../kernel/clock.ts'
import { badRequest, unavailable } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import { freeBytes } from '../../kernel/memory.ts'
import type { EventStore } from '../store/events.ts'
import { classifyInsertFailure, type InsertFailureKind } from './insert-failure.ts'
import { encodeNative } from './native.ts'
import type { PostPart } from './posting.ts'
import type { InsertGroup } from './queue.ts'
import { endInserts, type Insert, insertNative, runningInserts, type StoredRange, storedRows } from './rows.ts'
import type { Seq } from './seq.ts'

export type CommitDeps = {
  store: EventStore
  seq: Seq
  clock: Clock
  log: Logger
  /** Distinguishes this process's inserts from others'. */
  writerId: string
  retryAfterS(): number
  stopping: AbortSignal
  /** Inserts whose outcome is still unknown, also after their commit returned. */
  unsettled: Set<Promise<void>>
}

/** Bounds the inserts for one rejected group; the remaining parts fail with 503. */
const INSERTS_MAX = 200
const AGAIN_MS = [50, 100, 200, 500, 1_000] as const
const WATCH_EVERY_MS = 3_000
const REASON_CHARACTERS = 300
/** How long the next group waits for an insert with unknown outcome. With many such inserts it waits until their callers have answers. */
const PATIENCE_MS = 2_000
const UNSETTLED_MAX = 8
/** How long the outcome of an insert is queried. Inserts end long before. */
const SETTLE_BOUND_MS = 600_000

/**
 * Stores a group and returns when the next group may start. An insert is atomic, so it ends in one of four ways: stored, rejected, temporarily
 * impossible, or unknown. An unknown outcome is queried from the store. If that takes long, the next group starts and the parts settle later.
 */
export async function commit(group: InsertGroup, deps: CommitDeps): Promise<void> {
  if (group.parts.length === 0 || !(await reserveNumbers(group, deps))) return
  await store(group, deps, { inserts: INSERTS_MAX }).catch((bug) => {
    for (const part of group.parts) if (part.state !== 'settled') part.posting.failed(part, bug)
  })
}

/** Assigns sequence numbers to all blocks. */
async function reserveNumbers(group: InsertGroup, deps: CommitDeps): Promise<boolean> {
  for (let tries = 0; ; tries += 1) {
    try {
      let seq = await deps.seq.reserve(group.rows)
      endWithLastPart(group, seq, deps.seq)
      for (const block of group.parts.flatMap((part) => part.numberedBlocks)) {
        block.seq = seq
        seq += BigInt(block.block.rows)
      }
      return true
    } catch (cause) {
      if (classifyInsertFailure(cause) === 'unavailable' || isAbandoned(group) || deps.stopping.aborted) {
        fail(group.parts, cause, deps)
        return false
      }
      if (tries === 0) deps.log.warn({ err: cause }, 'sequence numbers could not be claimed yet')
      await pause(tries, deps)
    }
  }
}

/** Ends the reservation of the numbers when the outcome of every part is final. */
function endWithLastPart({ parts }: InsertGroup, first: bigint, seq: Seq): void {
  let open = parts.length
  const ended = (): void => {
    open -= 1
    if (open === 0) seq.end(first)
  }
  for (const part of parts) part.sending = { first, ended }
}

/** Old numbers must not be stored anymore: their callers have long got an answer. */
const mayBeSent = ({ parts: [part] }: InsertGroup, { seq }: CommitDeps): boolean =>
  part?.sending !== undefined && seq.mayBeSent(part.sending.first)

type Budget = { inserts: number }

async function store(group: InsertGroup, deps: CommitDeps, budget: Budget): Promise<void> {
  budget.inserts -= 1
  // Another process may have taken over a post, or its sender was refused while numbers were claimed and repeats it.
  const over = group.parts.filter(({ posting }) => !posting.mayStore() || posting.answered())
  if (over.length > 0) {
    fail(over, undefined, deps)
    const left = group.parts.filter((part) => !over.includes(part))
    return left.length > 0 ? store(groupOf(left), deps, budget) : undefined
  }
  if (!mayBeSent(group, deps)) return fail(group.parts, undefined, deps)
  const isFirst = budget.inserts === INSERTS_MAX - 1
  try {
    await insertWatched(insertOf(group, deps), deps)
  } catch (cause) {
    return afterRefusal(group, cause, deps, budget)
  }
  for (const part of group.parts) part.posting.stored(part)
  if (isFirst) for (const part of group.parts) freeColumns(part)
}

/** Only after the first insert of a group: the system may still read the memory of one that failed. */
function freeColumns({ numberedBlocks }: PostPart): void {
  for (const { block } of numberedBlocks) if (block.isOwned) for (const { bytes } of block.columns) freeBytes(bytes)
}

async function afterRefusal(group: InsertGroup, cause: unknown, deps: CommitDeps, budget: Budget): Promise<void> {
  const refusal = classifyInsertFailure(cause)
  switch (refusal) {
    case 'content':
    case 'ambiguous':
      return bisect(group, cause, refusal, deps, budget)
    case 'unavailable':
      return fail(group.parts, cause, deps)
    case 'sync':
      deps.log.error({ err: cause }, 'the disk of the event store did not sync; the event engine is restarted')
      deps.store.engine?.kill()
      return settleInBackground(group, deps, budget)
    case 'unknown':
      return settleInBackground(group, deps, budget)
  }
}

/** Halves a rejected group until the offending posts are isolated; the others are stored. */
async function bisect(group: InsertGroup, cause: unknown, refusal: InsertFailureKind, deps: CommitDeps, budget: Budget): Promise<void> {
  const [part] = group.parts
  if (part && group.parts.length === 1) {
    deps.log.warn({ err: cause, rows: group.rows }, 'the event store refused a post')
    if (refusal !== 'content') return fail([part], cause, deps)
    const reason = cause instanceof Error ? cause.message.slice(0, REASON_CHARACTERS) : 'no reason given'
    return part.posting.failed(part, badRequest(`the event store cannot store these events: ${reason}`, { cause }))
  }
  if (budget.inserts <= 0) return fail(group.parts, cause, deps)
  const middle = Math.ceil(group.parts.length / 2)
  await store(groupOf(group.parts.slice(0, middle)), deps, budget)
  await store(groupOf(group.parts.slice(middle)), deps, budget)
}

/** Settles an unknown outcome without blocking the queue for long. The parts keep their memory until they are settled. */
async function settleInBackground(group: InsertGroup, deps: CommitDeps, budget: Budget): Promise<void> {
  const settled = settleUnknown(group, deps, budget)
    .catch((bug) => fail(group.parts, bug, deps))
    .finally(() => deps.unsettled.delete(settled))
  deps.unsettled.add(settled)
  const over = new AbortController()
  const patience = deps.clock.sleep(PATIENCE_MS, over.signal).then(
    () => (deps.unsettled.size > UNSETTLED_MAX ? Promise.allSettled(group.parts.map(({ posting }) => posting.answer)) : undefined),
    () => undefined,
  )
  await Promise.race([settled, patience])
  over.abort()
}

/**
 * Settles an insert with unknown outcome. It kills the insert first, so that the stored state is final. If the rows are missing, it sends the same bytes
 * with the same token, which is safe whether or not the store still remembers the token.
 */
async function settleUnknown(group: InsertGroup, deps: CommitDeps, budget: Budget): Promise<void> {
  const [part] = group.parts
  if (!part) return
  const insert = insertOf(group, deps)
  deps.log.warn({ rows: group.rows }, 'the outcome of an insert is unknown; checking the event store')
  const giveUpMs = deps.clock.monotonicMs() + SETTLE_BOUND_MS
  for (let tries = 0; !deps.stopping.aborted && deps.clock.monotonicMs() < giveUpMs; tries += 1) {
    const found = await checkStored(insert, rangeOf(group, part), deps)
    if (found === 'stored') return group.parts.forEach((there) => void there.posting.stored(there))
    if (found === 'missing') {
      if (isAbandoned(group) || !mayBeSent(group, deps)) return fail(group.parts, undefined, deps)
      // Another process may have taken over some posts: the others go into a new insert.
      if (!group.parts.every(({ posting }) => posting.mayStore())) return store(group, deps, budget)
      const cause = await insertWatched({ ...insert, queryId: `${insert.token} ${tries + 2}` }, deps).catch((thrown: unknown) => thrown)
      const refusal = cause === undefined ? 'unknown' : classifyInsertFailure(cause)
      if (refusal !== 'unknown' && refusal !== 'sync') return afterRefusal(group, cause, deps, budget)
      if (refusal === 'sync') deps.store.engine?.kill()
      if (cause === undefined && tries === 0) continue
    }
    await pause(tries, deps)
  }
  const failure = unavailable('it is unknown whether these events are stored', { retryAfterS: deps.retryAfterS() })
  for (const lost of group.parts) lost.posting.lost(lost, failure, deps.stopping.aborted ? 'unknown' : 'some')
}

/** Checks whether an insert is stored. A failed check leaves the outcome unknown. */
async function checkStored(
  { token, rows }: Insert,
  range: StoredRange,
  { store, clock, log }: CommitDeps,
): Promise<'stored' | 'missing' | 'unknown'> {
  try {
    await endInserts(store, token, clock)
    return (await storedRows(store, range)) >= rows ? 'stored' : 'missing'
  } catch (err) {
    log.debug({ err }, 'the outcome of an insert is still unknown')
    return 'unknown'
  }
}

/** Inserts and watches: when the store no longer works on a slow insert, its answer is lost, and waiting ends. */
async function insertWatched(insert: Insert, { store, clock, log }: CommitDeps): Promise<void> {
  const [done, lost] = [new AbortController(), new AbortController()]
  const watch = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await clock.sleep(WATCH_EVERY_MS, done.signal).catch(() => undefined)
      if (done.signal.aborted) return
      const running = await runningInserts(store, insert.queryId).catch((err) => log.debug({ err }, 'a slow insert could not be checked'))
      if (running === 0) lost.abort()
    }
  }
  void watch()
  try {
    await insertNative(store, insert, lost.signal)
  } finally {
    done.abort()
  }
}

function insertOf({ parts, rows }: InsertGroup, { writerId }: CommitDeps): Insert {
  const [first] = parts
  if (!first) throw new Error('a group without parts is never stored')
  const token = `${writerId} ${first.numberedBlocks[0]?.seq} ${rows}`
  return {
    table: first.table,
    token,
    queryId: `${token} 1`,
    rows,
    bytes: parts.reduce((bytes, part) => bytes + part.bytes, 0),
    chunks: function* () {
      for (const part of parts) for (const block of part.numberedBlocks) yield* encodeNative(block, part.post)
    },
  }
}

function rangeOf({ parts }: InsertGroup, { table, day, numberedBlocks: [first] }: PostPart) {
  const last = parts.at(-1)?.numberedBlocks.at(-1)
  const end = last ? last.seq + BigInt(last.block.rows) - 1n : 0n
  return { table, day, first: first?.seq ?? 0n, last: end }
}

const groupOf = (parts: readonly PostPart[]): InsertGroup => ({ parts: parts, rows: parts.reduce((rows, part) => rows + part.rows, 0) })

const isAbandoned = ({ parts }: InsertGroup): boolean => parts.every((part) => part.posting.answered())

function fail(parts: readonly PostPart[], cause: unknown, { retryAfterS }: CommitDeps): void {
  for (const part of parts) {
    part.posting.failed(part, unavailable('the event store cannot accept events now', { cause, retryAfterS: retryAfterS() }))
  }
}

const pause = (tries: number, { clock, stopping }: CommitDeps): Promise<void> =>
  clock.sleep(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] ?? 1_000, stopping).catch(() => undefined)
