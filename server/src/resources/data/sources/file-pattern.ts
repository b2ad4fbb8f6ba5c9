/** Matches paths below a directory: `*` and `?` stand for characters of a name, and `**` for any folders. Its time is bounded by both lengths. */
export function filePattern(pattern: string): (path: string) => boolean {
  const wanted = pattern.replace(/^\/+/, '').split('/')
  return (path) => matches(wanted, path.split('/'), (one, name) => (one === '**' ? 'any' : isName(one, name)))
}

/** Whether files in folders below the directory can match. */
export const reachesFolders = (pattern: string): boolean => pattern.includes('/') || pattern.includes('**')

const isName = (pattern: string, name: string): boolean =>
  matches([...pattern], [...name], (one, char) => (one === '*' ? 'any' : one === '?' || one === char))

/** Compares two sequences. After a mismatch it goes on from the last `any`, which then takes one item more. */
function matches(wanted: readonly string[], given: readonly string[], compare: (one: string, item: string) => boolean | 'any'): boolean {
  let [at, next, lastAny, lastAt] = [0, 0, -1, 0]
  while (at < given.length) {
    const one = wanted[next]
    const found = one === undefined ? false : compare(one, given[at] ?? '')
    if (found === 'any') {
      lastAny = next
      lastAt = at
      next += 1
    } else if (found) {
      at += 1
      next += 1
    } else if (lastAny >= 0) {
      lastAt += 1
      at = lastAt
      next = lastAny + 1
    } else return false
  }
  return wanted.slice(next).every((one) => compare(one, '') === 'any')
}
