/** A Segment of a line is text; where it says the value of a key of its event, it says of which, and how many letters of it lead to the value. */
export type Segment = { text: string; lead?: number; pair?: { name: string; value: string } }

/** PAIRS are `key=value`, `key="a value"`, and `"key": value` of JSON. */
const PAIRS =
  /(?<![\w.@$-])(?:"(?<json>(?:[^"\\]|\\.)+)"\s*:\s*|(?<name>[\p{L}_@$][\w.@$-]*)=)(?<value>"(?:[^"\\]|\\.)*"|[^\s"',;{}[\]]+)/gu

/** segmentsOf finds the pairs in a line that are truly keys of its event; the segments together are the line. */
export function segmentsOf(text: string, keys: Readonly<Record<string, string>>): Segment[] {
  if (!text.includes('=') && !text.includes('":')) return [{ text }]
  const segments: Segment[] = []
  let from = 0
  for (const found of text.matchAll(PAIRS)) {
    const { json, name = json ?? '', value: written = '' } = found.groups ?? {}
    const value = unquoted(written)
    if (!Object.hasOwn(keys, name) || keys[name] !== value) continue
    if (found.index > from) segments.push({ text: text.slice(from, found.index) })
    segments.push({ text: found[0], lead: found[0].length - written.length, pair: { name, value } })
    from = found.index + found[0].length
  }
  if (from < text.length) segments.push({ text: text.slice(from) })
  return segments
}

function unquoted(written: string): string {
  if (!written.startsWith('"')) return written
  try {
    return String(JSON.parse(written))
  } catch {
    return written.slice(1, -1)
  }
}

/** keyOf is the key of an event that has a value, the empty one where none has. */
export const keyOf = (value: string, keys: Readonly<Record<string, string>>): string =>
  Object.keys(keys).find((name) => keys[name] === value) ?? ''
