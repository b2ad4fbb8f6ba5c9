/** Numbered are things in their order, each with a number of its own that stays while others come and go. */
export type Numbered<T> = { readonly things: readonly T[]; readonly numbers: readonly number[]; readonly next: number }

export const NOTHING_NUMBERED = { things: [], numbers: [], next: 0 } as const

/**
 * numberedAnew keeps the numbers of what was there before. No map outlives the call: one of two hundred thousand events would hold up every collection
 * of what is no longer used.
 */
export function numberedAnew<T>(before: Numbered<T>, things: readonly T[]): Numbered<T> {
  let { next } = before
  let same = 0
  while (same < things.length && same < before.things.length && things[same] === before.things[same]) same += 1
  const numbers = before.numbers.slice(0, same)
  const moved = new Map(before.things.slice(same).map((thing, at) => [thing, before.numbers[same + at]]))
  for (let at = same; at < things.length; at += 1) numbers.push(moved.get(things[at] as T) ?? next++)
  return { things, numbers, next }
}
