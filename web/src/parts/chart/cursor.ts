/** A Cursor is the slice under the crosshair; listeners follow it without a new render of the chart. */
export type Cursor = { at(): number | undefined; move(at: number | undefined): void; follow(listener: () => void): () => void }

export function newCursor(): Cursor {
  let now: number | undefined
  const followers = new Set<() => void>()
  return {
    at: () => now,
    move: (at) => {
      if (at === now) return
      now = at
      for (const listener of followers) listener()
    },
    follow: (listener) => {
      followers.add(listener)
      return () => void followers.delete(listener)
    },
  }
}
