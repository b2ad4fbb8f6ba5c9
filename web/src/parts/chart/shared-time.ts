/** A Reading is the moment that a chart reads, and the part that is being selected in it. */
type Reading = { by: object; atMs: number | undefined; part: ReadPart | undefined }
type ReadPart = { fromMs: number; toMs: number }

/**
 * A SharedTime is the time axis of charts that stand beside each other: what is read in one is shown by all. Listeners follow it without a new
 * render of the page. `by` is the chart that reads; only it can end its reading.
 */
export type SharedTime = {
  now(): Reading | undefined
  read(by: object, atMs: number | undefined, part?: ReadPart): void
  release(by: object): void
  follow(listener: () => void): () => void
}

export function newSharedTime(): SharedTime {
  let now: Reading | undefined
  const followers = new Set<() => void>()
  const move = (next: Reading | undefined): void => {
    if (next?.by === now?.by && next?.atMs === now?.atMs && next?.part === now?.part) return
    now = next
    for (const listener of followers) listener()
  }
  return {
    now: () => now,
    read: (by, atMs, part) => {
      const same = now?.part
      // A part that stays is the same object, so that whoever draws parts has nothing to do.
      const isSame = part && same && part.fromMs === same.fromMs && part.toMs === same.toMs
      move({ by, atMs, part: isSame ? same : part })
    },
    release: (by) => {
      if (now?.by === by) move(undefined)
    },
    follow: (listener) => {
      followers.add(listener)
      return () => void followers.delete(listener)
    },
  }
}

const byKey = new Map<string, SharedTime>()

/** The time axis of all charts with this key. */
export function sharedTime(key: string): SharedTime {
  const known = byKey.get(key) ?? newSharedTime()
  byKey.set(key, known)
  return known
}
