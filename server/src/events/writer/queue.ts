import { fits, type PostPart } from './posting.ts'

/** The parts of one insert, all of one table and day. */
export type InsertGroup = { parts: readonly PostPart[]; rows: number }

/** The waiting parts of one table, by day. A day is busy from claimDay until releaseDay. */
export type TableQueue = {
  add(piece: PostPart): void
  /** Returns a waiting day that is not busy and marks it busy. */
  claimDay(): DayQueue | undefined
  releaseDay(day: DayQueue): void
}

export type DayQueue = {
  readonly day: number
  /** True when more parts are likely soon: the last group was larger, or posts arrived during its insert. */
  expectsMore(): boolean
  /** Returns the parts of the next insert, without those that were given up meanwhile. */
  takeGroup(): InsertGroup
}

const DAYS_KEPT = 16
/** An insert of more parts would keep those that arrive meanwhile waiting for seconds. */
const GROUP_PIECES_MAX = 1_000

type Day = DayQueue & { waiting: PostPart[]; lastPieces: number; crowded: boolean; busy: boolean }

export function makeQueue(): TableQueue {
  const days = new Map<number, Day>()
  let claims = 0

  function dayOf(day: number): Day {
    let found = days.get(day)
    if (!found) {
      found = makeDay(day)
      days.set(day, found)
    }
    return found
  }

  return {
    add: (piece) => void dayOf(piece.day).waiting.push(piece),
    claimDay: () => {
      claims += 1
      const free = [...days.values()].filter((day) => !day.busy && day.waiting.length > 0)
      const found = least(free, rankOf(claims, free))
      if (found) found.busy = true
      return found
    },
    releaseDay: ({ day }) => {
      const found = dayOf(day)
      found.busy = false
      found.crowded = found.waiting.length > 0
      // Keep the most recently used days: an empty day may fill again as soon as its callers have answers.
      days.delete(day)
      days.set(day, found)
      for (const [idle, { busy, waiting }] of days) {
        if (days.size <= DAYS_KEPT) return
        if (!busy && waiting.length === 0) days.delete(idle)
      }
    },
  }
}

/**
 * Alternates between the fullest day, the longest-waiting one and that of the organization with the fewest waiting parts, so that a busy day, a post of a
 * thousand days and an organization with few events do not starve each other.
 */
function rankOf(claims: number, free: readonly Day[]): (day: Day) => number {
  if (claims % 3 === 1) return ({ waiting }) => -waiting.length
  if (claims % 3 === 2) return ({ waiting }) => waiting[0]?.waitingSinceMs ?? 0
  const waitingByOrg = new Map<number, number>()
  if (free.length > 1)
    for (const { waiting } of free)
      for (const { posting } of waiting) waitingByOrg.set(posting.orgNumber, (waitingByOrg.get(posting.orgNumber) ?? 0) + 1)
  return ({ waiting }) =>
    waiting.reduce((fewest, { posting }) => Math.min(fewest, waitingByOrg.get(posting.orgNumber) ?? 0), Number.MAX_VALUE)
}

function makeDay(day: number): Day {
  const self: Day = {
    day,
    waiting: [],
    lastPieces: 0,
    crowded: false,
    busy: false,
    expectsMore: () => (self.crowded ? self.waiting.length <= self.lastPieces : self.waiting.length < self.lastPieces),
    takeGroup: () => {
      const pieces: PostPart[] = []
      let size = { rows: 0, weight: 0 }
      let seen = 0
      const waiting = interleaved(self.waiting.filter(({ state }) => state === 'waiting'))
      for (const piece of waiting) {
        if (pieces.length > 0 && (!fits(size, piece) || pieces.length === GROUP_PIECES_MAX)) break
        piece.state = 'sent'
        pieces.push(piece)
        size = { rows: size.rows + piece.rows, weight: size.weight + piece.weight }
        seen += 1
      }
      self.waiting = waiting.slice(seen)
      self.lastPieces = pieces.length
      return { parts: pieces, rows: size.rows }
    },
  }
  return self
}

/** Orders parts so that organizations take turns. The parts of one keep their order. */
function interleaved(parts: PostPart[]): PostPart[] {
  const countByOrg = new Map<number, number>()
  const ranked = parts.map((part) => {
    const rank = countByOrg.get(part.posting.orgNumber) ?? 0
    countByOrg.set(part.posting.orgNumber, rank + 1)
    return { part, rank }
  })
  return countByOrg.size < 2 ? parts : ranked.sort((a, b) => a.rank - b.rank).map(({ part }) => part)
}

function least<T>(items: readonly T[], by: (item: T) => number): T | undefined {
  let found: T | undefined
  for (const item of items) if (found === undefined || by(item) < by(found)) found = item
  return found
}
