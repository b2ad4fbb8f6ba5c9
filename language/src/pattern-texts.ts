/** The template of each known pattern by its id. */
export type PatternTexts = ReadonlyMap<string, string>

const QUOTED_ID = /'([0-9a-f]{16})'/g
const TEXT_CHARS_MAX = 120

/** The ids of patterns in a query. */
export const patternIdsIn = (query: string): string[] =>
  query.includes('@pattern') ? [...new Set([...query.matchAll(QUOTED_ID)].map(([, id = '']) => id))] : []

/** A query for people: the template of each known pattern in place of its id. */
export const withPatternTexts = (query: string, texts: PatternTexts): string =>
  texts.size === 0 ? query : query.replace(QUOTED_ID, (quoted, id: string) => patternLabel(texts.get(id)) ?? quoted)

const ID = /\b[0-9a-f]{16}\b/g

/** The ids of patterns in the names of groups. */
export const patternValuesIn = (names: readonly string[]): string[] => [...new Set(names.flatMap((name) => name.match(ID) ?? []))].sort()

/** The name of a group, in which the id of a pattern stands without quotes. */
export const withPatternValues = (name: string, texts: PatternTexts): string =>
  texts.size === 0 ? name : name.replace(ID, (id) => patternLabel(texts.get(id)) ?? id)

/** A template in quotation marks, on one line and cut where it is long. */
export function patternLabel(template: string | undefined): string | undefined {
  if (template === undefined) return undefined
  const line = template.replace(/\s+/g, ' ').trim()
  return `“${line.length > TEXT_CHARS_MAX ? `${line.slice(0, TEXT_CHARS_MAX - 1)}…` : line}”`
}
