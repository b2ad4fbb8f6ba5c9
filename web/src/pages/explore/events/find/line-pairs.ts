/** A Segment is a part of a line. If it states a field of the event, `pair` is that field and `nameLength` counts the characters before the value. */
export type Segment = { text: string; nameLength?: number; pair?: { name: string; value: string } }

/** Matches `field=value`, `field="a value"` and `"field": value`. */
const PAIRS =
  /(?<![\w.@$-])(?:"(?<json>(?:[^"\\]|\\.)+)"\s*:\s*|(?<name>[\p{L}_@$][\w.@$-]*)=)(?<value>"(?:[^"\\]|\\.)*"|[^\s"',;{}[\]]+)/gu

/** Finds the pairs in a line that are fields of its event. The segments add up to the line. */
export function segmentsOf(text: string, fields: Readonly<Record<string, string>>): Segment[] {
  if (!text.includes('=') && !text.includes('":')) return [{ text }]
  const segments: Segment[] = []
  let from = 0
  for (const found of text.matchAll(PAIRS)) {
    const { json, name = json ?? '', value: quotedValue = '' } = found.groups ?? {}
    const value = unquoted(quotedValue)
    if (!Object.hasOwn(fields, name) || fields[name] !== value) continue
    if (found.index > from) segments.push({ text: text.slice(from, found.index) })
    segments.push({ text: found[0], nameLength: found[0].length - quotedValue.length, pair: { name, value } })
    from = found.index + found[0].length
  }
  if (from < text.length) segments.push({ text: text.slice(from) })
  return segments
}

function unquoted(quotedValue: string): string {
  if (!quotedValue.startsWith('"')) return quotedValue
  try {
    return String(JSON.parse(quotedValue))
  } catch {
    return quotedValue.slice(1, -1)
  }
}

/** The name of the field with a value, or an empty string. */
export const fieldWithValue = (value: string, fields: Readonly<Record<string, string>>): string =>
  Object.keys(fields).find((name) => fields[name] === value) ?? ''
