import type { ChangesReply, Finding } from '@dendro/api'
import { clockOf } from '../../../parts/time/time-range.ts'
import { joinClauses, splitClauses, withClause } from '../query/clauses.ts'
import type { ExploreQuery } from '../query/explore-query.ts'

const WINDOW_MS = 300_000
const WINDOW = 'Last 5 minutes'
/** A share of 0 stands for half an event, so that the threshold lies above nothing. */
const HALF_AN_EVENT = 0.5

type ComparedRange = ChangesReply['range']

/** findingMonitorParams open the monitor editor with a monitor that notices a finding when it comes back. */
export function findingMonitorParams(finding: Finding, { range, baseline }: Pick<ChangesReply, 'range' | 'baseline'>, query: ExploreQuery) {
  const isRise = finding.change === 'NEW' || finding.change === 'INCREASED'
  const { where, label } = conditionOf(finding)
  return {
    edit: 'new',
    ...(query.datasets ? { d: [...query.datasets] } : {}),
    q: splitClauses(where).reduce(withClause, query.where),
    r: WINDOW,
    op: isRise ? ('ABOVE' as const) : ('BELOW' as const),
    threshold: thresholdOf(perWindow(finding.baseline_count, baseline), perWindow(finding.count, range)),
    name: `${isRise ? 'High' : 'Low'} rate of ${label}`.slice(0, NAME_MAX),
    about: `${finding.text} Found in the events of ${utcSpanText(range)}.`,
  }
}

const NAME_MAX = 255
const NAMES_MAX = 3

/** The finding by its first values together, which are less common than one of them alone. */
function conditionOf({ names, where }: Finding): { where: string; label: string } {
  const [first] = names
  if (first?.kind !== 'VALUE') return { where, label: first?.label ?? where }
  const values = names.filter(({ kind, key }) => kind === 'VALUE' && !key.startsWith('@')).slice(0, NAMES_MAX)
  if (values.length === 0) return { where, label: first.label }
  return { where: joinClauses(values.map((one) => one.where)), label: values.map((one) => one.label).join(', ') }
}

/** The number of events that a window of the monitor has on average. */
const perWindow = (count: number | bigint, { from_ts, to_ts }: Pick<ComparedRange, 'from_ts' | 'to_ts'>): number =>
  Number(count) * Math.min(1, WINDOW_MS / Math.max(1, to_ts - from_ts))

/**
 * thresholdOf lies between what a window had before and what it has now, as many times above the one as below the other. A rise alerts above it, a
 * drop below it.
 */
export function thresholdOf(before: number, now: number): number {
  const middle = rounded(Math.sqrt(Math.max(before, HALF_AN_EVENT) * Math.max(now, HALF_AN_EVENT)))
  if (now > before) return Math.max(0, Math.min(Math.max(middle, Math.ceil(before)), Math.ceil(now) - 1))
  return Math.max(1, Math.min(Math.max(middle, Math.floor(now) + 1), Math.ceil(before)))
}

/** Keeps two digits. */
function rounded(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1)
  return Math.round(value / step) * step
}

/** A time span for readers in any time zone. */
export function utcSpanText({ from_ts, to_ts }: Pick<ComparedRange, 'from_ts' | 'to_ts'>): string {
  const [from, to] = [clockOf(from_ts, 'utc'), clockOf(to_ts, 'utc')]
  return `${from.day} ${from.clock.slice(0, 8)} to ${to.day === from.day ? '' : `${to.day} `}${to.clock.slice(0, 8)} UTC`
}
