/** A PatternTexts has the template of each known pattern by its id. */
export type PatternTexts = ReadonlyMap<string, string>

const QUOTED_ID = /'([0-9a-f]{16})'/g
const TEXT_CHARS_MAX = 120

/** patternIdsIn are the ids of patterns in a query. */
export const patternIdsIn = (query: string): string[] =>
  query.includes('@pattern') ? [...new Set([...query.matchAll(QUOTED_ID)].map(([, id = '']) => id))] : []

/** withPatternTexts is a query for people: the template of each known pattern in place of its id. */
export const withPatternTexts = (query: string, texts: PatternTexts): string =>
  texts.size === 0 ? query : query.replace(QUOTED_ID, (quoted, id: string) => patternLabel(texts.get(id)) ?? quoted)

/** patternLabel is a template in quotation marks, on one line and cut where it is long. */
export function patternLabel(template: string | undefined): string | undefined {
  if (template === undefined) return undefined
  const line = template.replace(/\s+/g, ' ').trim()
  return `“${line.length > TEXT_CHARS_MAX ? `${line.slice(0, TEXT_CHARS_MAX - 1)}…` : line}”`
}
