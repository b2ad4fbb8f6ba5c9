/** The most names that are shown for a metric. */
const NAMED_MAX = 4
/** The users of a metric that are read of each kind: one more shows that there are others. */
export const READ_MAX = NAMED_MAX + 1

/** The first of several lists of names; one that was not read whole may have more than are counted. */
export function usesText(lists: readonly (readonly string[])[]): string {
  const names = lists.flat()
  if (names.length === 0) return 'not used'
  const rest = names.length - NAMED_MAX
  const isCounted = lists.every((list) => list.length < READ_MAX)
  const others = rest <= 0 ? '' : isCounted ? ` and ${rest} more` : ' and others'
  return `used by ${names.slice(0, NAMED_MAX).join(', ')}${others}`
}
