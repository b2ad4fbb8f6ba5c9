import { fits, type Piece } from './posting.ts'

/** A Group is what one insert stores: pieces of one table and day. */
export type Group = { pieces: readonly Piece[]; rows: number }

/** A Queue holds the pieces of one table that wait for an insert, by day. A day is busy from the moment it is taken up until it is let go. */
export type Queue = {
  add(piece: Piece): void
  /** takeUp gives a day that waits and is not busy. */
  takeUp(): WaitingDay | undefined
  letGo(day: WaitingDay): void
}

export type WaitingDay = {
  readonly day: number
  /** expectsMore says that more is likely to come soon: the last group was larger, or posts came while it was being stored. */
  expectsMore(): boolean
  /** take gives the pieces of the next insert; those that were given up meanwhile are left out. */
  take(): Group
}

const DAYS_KEPT = 16
const GROUP_PIECES_MAX = 10_000

type Day = WaitingDay & { waiting: Piece[]; lastPieces: number; crowded: boolean; busy: boolean }

export function makeQueue(): Queue {
  const days = new Map<number, Day>()
  let turn = 0

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
    takeUp: () => {
      turn += 1
      const free = [...days.values()].filter((day) => !day.busy && day.waiting.length > 0)
      // In turns the fullest day and the one that waits longest, so that neither a post of a thousand days nor the crowd keeps the other out.
      const found = turn % 2 === 0 ? least(free, (day) => day.waiting[0]?.waitingSinceMs ?? 0) : least(free, (day) => -day.waiting.length)
      if (found) found.busy = true
      return found
    },
    letGo: ({ day }) => {
      const found = dayOf(day)
      found.busy = false
      found.crowded = found.waiting.length > 0
      // The days used last are kept, since a day that is empty now was full when its callers had no answer yet.
      days.delete(day)
      days.set(day, found)
      for (const [idle, { busy, waiting }] of days) {
        if (days.size <= DAYS_KEPT) return
        if (!busy && waiting.length === 0) days.delete(idle)
      }
    },
  }
}

function makeDay(day: number): Day {
  const self: Day = {
    day,
    waiting: [],
    lastPieces: 0,
    crowded: false,
    busy: false,
    expectsMore: () => (self.crowded ? self.waiting.length <= self.lastPieces : self.waiting.length < self.lastPieces),
    take: () => {
      const pieces: Piece[] = []
      let size = { rows: 0, weight: 0 }
      let seen = 0
      for (const piece of self.waiting) {
        if (piece.state === 'waiting') {
          if (pieces.length > 0 && (!fits(size, piece) || pieces.length === GROUP_PIECES_MAX)) break
          piece.state = 'sent'
          pieces.push(piece)
          size = { rows: size.rows + piece.rows, weight: size.weight + piece.weight }
        }
        seen += 1
      }
      self.waiting.splice(0, seen)
      self.lastPieces = pieces.length
      return { pieces, rows: size.rows }
    },
  }
  return self
}

function least<T>(items: readonly T[], by: (item: T) => number): T | undefined {
  let found: T | undefined
  for (const item of items) if (found === undefined || by(item) < by(found)) found = item
  return found
}
