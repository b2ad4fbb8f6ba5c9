const VALUE_CHARS_MAX = 1_000

/**
 * `key:value` for each group key, in order, `null` for a missing value. Long values are cut, and NUL is replaced because PostgreSQL cannot
 * store it.
 */
export const groupId = (keys: readonly string[], values: readonly (string | null)[]): string =>
  keys
    .map((key, at) => `${key}:${(values[at] ?? 'null').slice(0, VALUE_CHARS_MAX)}`)
    .join(',')
    .replaceAll('\0', '\ufffd')

/** Parses the key values from a group id; an id made with other keys yields no values. */
export function groupValues(id: string, keys: readonly string[]): Record<string, string> {
  const values: Record<string, string> = Object.create(null)
  if (keys.length === 1 && keys[0] === '@pattern') return id === '' ? values : { '@pattern': id }
  let at = 0
  for (const [index, key] of keys.entries()) {
    const start = at + key.length + 1
    if (!id.startsWith(`${key}:`, at)) return {}
    const next = keys[index + 1]
    const end = next === undefined ? id.length : id.indexOf(`,${next}:`, start)
    if (end < 0) return {}
    values[key] = id.slice(start, end)
    at = end + 1
  }
  return values
}
