/** A Cursor is the slice that the crosshair of a chart stands on; who reads it is told of every move, the chart itself is not drawn anew. */
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
