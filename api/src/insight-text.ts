/** The description of an insight and its parts. The web app imports this file alone, without the schemas. */

export type InsightConfidence = 'high' | 'medium'
/** The one thing to do about an insight, and the page on which it is done. */
export type InsightAction = { readonly label: string; readonly link: string }
/** The parts of the description of an insight. */
export type InsightText = {
  readonly finding: string
  readonly sinceMs: number
  readonly confidence: InsightConfidence
  readonly action: InsightAction
}

export const writeInsightText = ({ finding, sinceMs, confidence, action }: InsightText): string => {
  const since = new Date(sinceMs).toISOString().slice(0, 16).replace('T', ' ')
  return [finding, `Since ${since} UTC. Confidence: ${confidence}.`, action.label, action.link].join('\n')
}

const PLACE = /^Since (\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\. Confidence: (high|medium)\.$/

/** Reads what `writeInsightText` wrote, for a client that shows the parts on their own; undefined for any other text. */
export function readInsightText(description: string): InsightText | undefined {
  const [finding = '', place = '', label = '', link = '', ...more] = description.split('\n')
  const found = PLACE.exec(place)
  if (!found || !/^\/app\/[a-z]/.test(link) || more.length > 0) return undefined
  return {
    finding,
    sinceMs: Date.parse(`${found[1]}T${found[2]}:00Z`),
    confidence: found[3] as InsightConfidence,
    action: { label, link },
  }
}
