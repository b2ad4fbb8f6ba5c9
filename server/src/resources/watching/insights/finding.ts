import type { Insight, InsightAction, InsightConfidence } from '@dendro/api'

/** What an evaluation found. `subject` makes it unique under its name, so that the same finding of the next hour is the same insight. */
export type InsightFinding = {
  readonly name: Insight['name']
  readonly subject: string
  readonly entityType: Insight['entity_type']
  readonly entityId: string
  /** When it began, as far as the counts show. */
  readonly sinceMs: number
  readonly evidence: string
  readonly confidence: InsightConfidence
  readonly action: InsightAction
}

/** A finding about a dataset; there is one for each name and dataset unless it has another subject. */
export const datasetFinding = (
  logId: string,
  finding: Omit<InsightFinding, 'entityType' | 'entityId' | 'subject'> & { subject?: string },
): InsightFinding => ({ subject: logId, entityType: 'log', entityId: logId, ...finding })

type LinkParam = string | number | readonly string[] | undefined

/** A link to a page of the web app. The pages read their parameters as JSON where they parse as such. */
export function pageLink(page: string, params: Readonly<Record<string, LinkParam>>): string {
  const pairs = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  )
  return `/app/${page}?${new URLSearchParams(pairs)}`
}

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
export const count = (value: number): string => numbers.format(value >= 10 ? Math.round(value) : value)

export const share = (value: number): string => `${count(value * 100)}%`

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
export function size(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${count(bytes / 2 ** (10 * power))} ${UNITS[power]}`
}

const HOUR_MS = 3_600_000
/** A time without events, in hours or days. */
export function duration(ms: number): string {
  const hours = Math.round(ms / HOUR_MS)
  if (hours >= 48) return `${Math.round(hours / 24)} days`
  return `${hours} hour${hours === 1 ? '' : 's'}`
}
