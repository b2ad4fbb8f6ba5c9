import type { TimeBounds } from '../query/bounds.ts'
import type { ToolContext } from './tool.ts'

/** More datasets than this would make the link too long; the page then shows all of them. */
const DATASETS_MAX = 50

type ExploreLink = {
  datasets?: readonly string[] | undefined
  where?: string | undefined
  bounds: TimeBounds
  tab?: 'events' | 'patterns' | 'table' | 'chart' | 'fields' | 'difference' | undefined
  by?: readonly string[] | undefined
  fn?: string | undefined
  event?: string | undefined
  cmp?: 'previous' | 'day' | 'week' | undefined
}

/** A link to the explore page with the same query and range. */
export const exploreLink = (context: ToolContext, { datasets, where, bounds, tab, by, fn, event, cmp }: ExploreLink): string =>
  appLink(context, 'explore', {
    d: datasets && datasets.length <= DATASETS_MAX ? datasets : undefined,
    q: where?.trim() || undefined,
    f: bounds.fromMs,
    t: bounds.toMs,
    tab: tab === 'events' ? undefined : tab,
    by: by?.length ? by : undefined,
    fn,
    e: event,
    cmp,
  })

/** A link to a page of the web app. The pages read their parameters as JSON where they parse as such. */
export function appLink({ actor }: ToolContext, page: string, params: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, typeof value === 'string' && !parsesAsJson(value) ? value : JSON.stringify(value)]],
  )
  return `${actor.facts.baseUrl}/app/${page}${pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`}`
}

function parsesAsJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
