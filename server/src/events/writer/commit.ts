import type { Clock } from '../../kernel/clock.ts'
import { badRequest, unavailable } from '../../kernel/errors.ts'
import type { Log } from '../../kernel/log.ts'
import type { EventStore } from '../store/events.ts'
import { encodeNative } from './native.ts'
import type { Piece } from './posting.ts'
import type { Group } from './queue.ts'
import { judge, type Refusal } from './refusal.ts'
import { endInserts, type Insert, insertNative, runningInserts, type StoredRange, storedRows } from './rows.ts'
import type { Seq } from './seq.ts'

export type CommitDeps = {
  store: EventStore
  seq: Seq
  clock: Clock
  log: Log
  /** writerId tells the inserts of this process from those of others. */
  writerId: string
  retryAfterS(): number
  stopping: AbortSignal
  /** unsettled are the inserts whose outcome is still being found out, also behind commits that have returned. */
  unsettled: Set<Promise<void>>
}

/** INSERTS_MAX bounds what a group costs the others when the store refuses it; what is left then shall come again. */
const INSERTS_MAX = 200
const AGAIN_MS = [50, 100, 200, 500, 1_000] as const
const LOOK_EVERY_MS = 3_000
const REASON_CHARACTERS = 300
/** The next group waits so long for an insert of which nobody knows, or until nobody waits for it when there are many such inserts. */
const PATIENCE_MS = 2_000
const UNSETTLED_MAX = 8
/** ASKED_MS is how long the store is asked for an insert; long before, it has ended one way or the other. */
const ASKED_MS = 600_000

/**
 * commit stores a group and returns when the next may go. An insert is one part of the store, which is there as a whole or not at all, so there
 * are four ends: it is there; it was refused; it cannot be taken now; or nobody knows, and then the store is asked. While that takes long the next
 * group goes ahead: the pieces settle later.
 */
export async function commit(group: Group, deps: CommitDeps): Promise<void> {
  if (group.pieces.length === 0 || !(await placed(group, deps))) return
  await store(group, deps, { inserts: INSERTS_MAX }).catch((bug) => {
    for (const piece of group.pieces) if (piece.state !== 'settled') piece.posting.failed(piece, bug)
  })
}

/** placed gives every block its sequence numbers. */
async function placed(group: Group, deps: CommitDeps): Promise<boolean> {
  for (let tries = 0; ; tries += 1) {
    try {
      let seq = await deps.seq.reserve(group.rows)
      for (const block of group.pieces.flatMap((piece) => piece.placed)) {
        block.seq = seq
        seq += BigInt(block.block.rows)
      }
      return true
    } catch (cause) {
      if (judge(cause) === 'trouble' || nobodyWaits(group) || deps.stopping.aborted) {
        fail(group.pieces, cause, deps)
        return false
      }
      if (tries === 0) deps.log.warn({ err: cause }, 'sequence numbers could not be claimed yet')
      await pause(tries, deps)
    }
  }
}

type Budget = { inserts: number }

async function store(group: Group, deps: CommitDeps, budget: Budget): Promise<void> {
  budget.inserts -= 1
  const taken = group.pieces.filter(({ posting }) => !posting.mayStore())
  if (taken.length > 0) {
    fail(taken, undefined, deps)
    const left = group.pieces.filter((piece) => !taken.includes(piece))
    return left.length > 0 ? store(groupOf(left), deps, budget) : undefined
  }
  try {
    await insertWatched(insertOf(group, deps), deps)
  } catch (cause) {
    return afterRefusal(group, cause, deps, budget)
  }
  for (const piece of group.pieces) piece.posting.stored(piece)
}

async function afterRefusal(group: Group, cause: unknown, deps: CommitDeps, budget: Budget): Promise<void> {
  const refusal = judge(cause)
  switch (refusal) {
    case 'content':
    case 'strange':
      return findGuilty(group, cause, refusal, deps, budget)
    case 'trouble':
      return fail(group.pieces, cause, deps)
    case 'sync':
      deps.log.error({ err: cause }, 'the disk of the event store did not sync; the event engine is restarted')
      deps.store.engine?.kill()
      return findOutAside(group, deps, budget)
    case 'unknown':
      return findOutAside(group, deps, budget)
  }
}

/** findGuilty halves a refused group until the guilty posts stand alone; the others are stored. */
async function findGuilty(group: Group, cause: unknown, refusal: Refusal, deps: CommitDeps, budget: Budget): Promise<void> {
  const [piece] = group.pieces
  if (piece && group.pieces.length === 1) {
    deps.log.warn({ err: cause, rows: group.rows }, 'the event store refused a post')
    if (refusal !== 'content') return fail([piece], cause, deps)
    const reason = cause instanceof Error ? cause.message.slice(0, REASON_CHARACTERS) : 'no reason given'
    return piece.posting.failed(piece, badRequest(`the event store cannot take these events: ${reason}`, { cause }))
  }
  if (budget.inserts <= 0) return fail(group.pieces, cause, deps)
  const middle = Math.ceil(group.pieces.length / 2)
  await store(groupOf(group.pieces.slice(0, middle)), deps, budget)
  await store(groupOf(group.pieces.slice(middle)), deps, budget)
}

/** findOutAside lets the caller go on, when finding out takes long; the pieces hold their memory until they are settled. */
async function findOutAside(group: Group, deps: CommitDeps, budget: Budget): Promise<void> {
  const found = findOut(group, deps, budget)
    .catch((bug) => fail(group.pieces, bug, deps))
    .finally(() => deps.unsettled.delete(found))
  deps.unsettled.add(found)
  const over = new AbortController()
  const patience = deps.clock.sleep(PATIENCE_MS, over.signal).then(
    () => (deps.unsettled.size > UNSETTLED_MAX ? Promise.allSettled(group.pieces.map(({ posting }) => posting.answer)) : undefined),
    () => undefined,
  )
  await Promise.race([found, patience])
  over.abort()
}

/**
 * findOut settles an insert of which nobody knows. What may still run of it is ended first, so that the store's answer stays true; then the same
 * bytes go again under the same token if they are not there, which is right whether or not the token is still known.
 */
async function findOut(group: Group, deps: CommitDeps, budget: Budget): Promise<void> {
  const [piece] = group.pieces
  if (!piece) return
  const insert = insertOf(group, deps)
  deps.log.warn({ rows: group.rows }, 'the outcome of an insert is unknown; the event store is asked')
  const giveUpMs = deps.clock.monotonicMs() + ASKED_MS
  for (let tries = 0; !deps.stopping.aborted && deps.clock.monotonicMs() < giveUpMs; tries += 1) {
    const found = await look(insert, rangeOf(group, piece), deps)
    if (found === 'there') return group.pieces.forEach((there) => void there.posting.stored(there))
    if (found === 'not there') {
      if (nobodyWaits(group)) return fail(group.pieces, undefined, deps)
      // Some may belong to another process by now: the others go without them, as another insert.
      if (!group.pieces.every(({ posting }) => posting.mayStore())) return store(group, deps, budget)
      const cause = await insertWatched({ ...insert, queryId: `${insert.token} ${tries + 2}` }, deps).catch((thrown: unknown) => thrown)
      const refusal = cause === undefined ? 'unknown' : judge(cause)
      if (refusal !== 'unknown' && refusal !== 'sync') return afterRefusal(group, cause, deps, budget)
      if (refusal === 'sync') deps.store.engine?.kill()
      if (cause === undefined && tries === 0) continue
    }
    await pause(tries, deps)
  }
  const failure = unavailable('it could not be found out whether these events are stored', { retryAfterS: deps.retryAfterS() })
  for (const lost of group.pieces) lost.posting.lost(lost, failure, deps.stopping.aborted ? 'unknown' : 'some')
}

/** look finds out whether an insert is there. When the store cannot say so, nobody knows still: no failure of a question says anything about the insert. */
async function look(
  { token, rows }: Insert,
  range: StoredRange,
  { store, clock, log }: CommitDeps,
): Promise<'there' | 'not there' | 'unknown'> {
  try {
    await endInserts(store, token, clock)
    return (await storedRows(store, range)) >= rows ? 'there' : 'not there'
  } catch (err) {
    log.debug({ err }, 'the outcome of an insert could not be found out yet')
    return 'unknown'
  }
}

/** insertWatched does not wait for an answer that cannot come any more: of a slow insert it looks now and then whether the store works on it. */
async function insertWatched(insert: Insert, { store, clock, log }: CommitDeps): Promise<void> {
  const [done, lost] = [new AbortController(), new AbortController()]
  const watch = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, done.signal).catch(() => undefined)
      if (done.signal.aborted) return
      const running = await runningInserts(store, insert.queryId).catch((err) => log.debug({ err }, 'a slow insert could not be looked at'))
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

function insertOf({ pieces, rows }: Group, { writerId }: CommitDeps): Insert {
  const [first] = pieces
  if (!first) throw new Error('a group without pieces is never stored')
  const token = `${writerId} ${first.placed[0]?.seq} ${rows}`
  return {
    tableClass: first.tableClass,
    token,
    queryId: `${token} 1`,
    rows,
    bytes: pieces.reduce((bytes, piece) => bytes + piece.bytes, 0),
    chunks: function* () {
      for (const piece of pieces) for (const block of piece.placed) yield encodeNative(block, piece.post)
    },
  }
}

function rangeOf({ pieces }: Group, { tableClass, day, placed: [first] }: Piece) {
  const last = pieces.at(-1)?.placed.at(-1)
  const end = last ? last.seq + BigInt(last.block.rows) - 1n : 0n
  return { tableClass, day, first: first?.seq ?? 0n, last: end }
}

const groupOf = (pieces: readonly Piece[]): Group => ({ pieces, rows: pieces.reduce((rows, piece) => rows + piece.rows, 0) })

const nobodyWaits = ({ pieces }: Group): boolean => pieces.every((piece) => piece.posting.answered())

function fail(pieces: readonly Piece[], cause: unknown, { retryAfterS }: CommitDeps): void {
  for (const piece of pieces) {
    piece.posting.failed(piece, unavailable('the event store cannot take events now', { cause, retryAfterS: retryAfterS() }))
  }
}

const pause = (tries: number, { clock, stopping }: CommitDeps): Promise<void> =>
  clock.sleep(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] ?? 1_000, stopping).catch(() => undefined)
