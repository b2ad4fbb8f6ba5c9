import type { Finding, MetricQuery } from '@dendro/api'
import type { AggregateCall } from '@dendro/language/tree'
import { Failure } from '../../../../kernel/errors.ts'
import { messageKeys } from '../../../../lines/reference/event.ts'
import type { EventQuery, FoundEvent, StatsRequest, StatsResult, StatsRow, TimeBounds } from '../../../../reading/query.ts'
import { combinedRange, inSameFamilies, readEvents, readStats } from '../../../../reading/reading.ts'
import type { World } from '../../../../world.ts'
import { compareEvents } from '../../../queries/changes/changes.ts'
import { templateWriter } from '../../../queries/patterns/patterns.ts'
import type { Occasion } from '../../alert-states/alert-states.ts'
import { planMonitorQuery } from '../monitor-query.ts'
import { candidateKeys } from './candidates.ts'
import { rateSurprise, shareSurprise, significantOnly } from './surprise.ts'

export type FoundPattern = {
  readonly template: string
  /** The latest line with this pattern. */
  readonly example: string
  readonly now: number
  readonly before: number
  readonly firstMs: number | undefined
  readonly lastMs: number | undefined
  readonly surprise: number
}
/** A value of a key; null stands for events without the key. */
export type FoundValue = {
  readonly key: string
  readonly value: string | null
  readonly now: number
  readonly before: number
  readonly surprise: number
}

/** The differences between the window of an alert and its baseline. */
export type Facts = {
  readonly window: TimeBounds
  readonly baseline: TimeBounds
  /** The number of windows in the baseline, each as long as the window of the alert. */
  readonly windows: number
  readonly now: number
  readonly before: number
  readonly patterns: readonly FoundPattern[]
  readonly values: readonly FoundValue[]
  /** The findings of the comparison that `POST /changes` makes; undefined when they could not be computed in time. */
  readonly findings: readonly Finding[] | undefined
  /** The keys whose values were compared. */
  readonly keys: readonly string[]
}

const DAY_MS = 86_400_000
const WINDOWS_MAX = 6
const PATTERNS_MAX = 300
const VALUES_MAX = 100
const SHOWN_MAX = 8
const SAMPLE_EVENTS = 300
const AT_ONCE = 2
/** After this time the report goes out with the values that a few smaller reads compare. */
const FINDINGS_MAX_MS = 6_000
const COUNT: AggregateCall = { name: 'count' }
const TIMES: readonly AggregateCall[] = [
  { name: 'min', key: '@time' },
  { name: 'max', key: '@time' },
]
const LAST_TEXTS: readonly AggregateCall[] = [...messageKeys, '@raw'].map((key): AggregateCall => ({ name: 'last', key }))

export type FactsWorld = Pick<World, 'meta' | 'events' | 'deployment' | 'clock' | 'admission'>

/**
 * Compares the events in the window with those of up to six windows before it, at most one day; a change monitor uses its own comparison
 * window.
 */
export async function factsOf(world: FactsWorld, orgId: string, occasion: Occasion, signal: AbortSignal): Promise<Facts | undefined> {
  const { fromMs, toMs, monitor, groups, troubledGroups } = occasion
  const [query] = monitor.queries
  if (!query) return undefined
  const windowMs = toMs - fromMs
  const { backMs } = monitor
  const windows = backMs === undefined ? Math.min(WINDOWS_MAX, Math.max(1, Math.floor(DAY_MS / windowMs))) : 1
  const baselineToMs = backMs === undefined ? fromMs : toMs - backMs
  const baselineBounds = { fromMs: baselineToMs - windows * windowMs, toMs: baselineToMs }
  // With several troubled groups the report covers all of them: what they share stands out.
  const monitorQuery = { orgId, monitorId: monitor.id, query: plain(query), groups: troubledGroups.length > 1 ? {} : groups }
  const on = (bounds: TimeBounds): Promise<EventQuery | undefined> => planMonitorQuery(world, monitorQuery, bounds, signal)
  const [window, baseline] = await Promise.all([on({ fromMs, toMs }), on(baselineBounds)])
  if (!window || !baseline) return undefined
  const sides: ComparedQueries = { window, baseline }
  const { now, before, patterns } = await patternsIn(world, orgId, sides, { windows, windowMs })
  const facts = { window: { fromMs, toMs }, baseline: baselineBounds, windows, now, before, patterns }
  const found = await findingsIn(world, orgId, sides)
  if (found) return { ...facts, findings: found.findings, values: [], keys: found.compared.filter((key) => !key.startsWith('@')) }
  const sampled = await Promise.all([window, baseline].map((eventQuery) => sample(world, eventQuery)))
  const keys = candidateKeys(sampled[0] ?? [], sampled[1] ?? [])
  return { ...facts, findings: undefined, values: await valuesIn(world, sides, keys, { now, before }), keys }
}

/** Compares both ranges as `POST /changes` does. Undefined when that takes too much time or exceeds the budget of a message. */
async function findingsIn(world: FactsWorld, orgId: string, { window, baseline }: ComparedQueries) {
  const bounds = { now: window.bounds, before: baseline.bounds }
  const limit = AbortSignal.any([window.signal, AbortSignal.timeout(FINDINGS_MAX_MS)])
  try {
    return await compareEvents(world, orgId, {
      query: { ...window, bounds: combinedRange(bounds), signal: limit },
      bounds,
      limit: SHOWN_MAX,
    })
  } catch (thrown) {
    window.signal.throwIfAborted()
    if (!limit.aborted && !(thrown instanceof Failure)) throw thrown
    return undefined
  }
}

/** Removes what only the value of the monitor needs. */
const plain = ({ name, select, from, from_expr, where }: MetricQuery): MetricQuery => ({
  name,
  select,
  where,
  ...(from ? { from } : {}),
  ...(from_expr === undefined ? {} : { from_expr }),
})

async function sample({ events }: FactsWorld, eventQuery: EventQuery): Promise<readonly FoundEvent[]> {
  return (await readEvents(events, eventQuery, { limit: SAMPLE_EVENTS, newestFirst: true, keys: 'all', withRaw: false })).events
}

/** The two time ranges that are compared. */
type ComparedQueries = { readonly window: EventQuery; readonly baseline: EventQuery }
/** The number of events of a group in each range, and its statistics, baseline first. */
type GroupComparison = {
  readonly values: readonly (string | null)[]
  readonly now: number
  readonly before: number
  readonly measured: readonly StatsRow[]
}

/**
 * Reads the groups of both ranges; the ratio is that of the baseline to the window. A group outside the listed largest groups has at most
 * as many events as the smallest listed one. It is assumed to have that many, as far as this makes the change smaller.
 */
async function compared(
  { events }: FactsWorld,
  { window, baseline }: ComparedQueries,
  request: Omit<StatsRequest, 'slices'>,
  ratio: number,
) {
  const [now, before] = await Promise.all([
    readStats(events, window, { ...request, slices: 1 }),
    readStats(events, baseline, { ...request, slices: 1 }),
  ])
  const [here, there] = [wholes(now), wholes(before)]
  const names = new Map([...now.groups, ...before.groups].map(({ values }) => [JSON.stringify(values), values]))
  const pairs = [...names].map(([name, values]): GroupComparison => {
    const [mine, theirs] = [here.get(name), there.get(name)]
    return {
      values,
      now: mine?.count ?? Math.min(unlistedMax(now), (theirs?.count ?? 0) / ratio),
      before: theirs?.count ?? Math.min(unlistedMax(before), (mine?.count ?? 0) * ratio),
      measured: [theirs, mine].filter((side) => side !== undefined),
    }
  })
  return { now: now.whole.count, before: before.whole.count, pairs }
}

const wholes = (found: StatsResult) => new Map(found.groups.map(({ values, whole }) => [JSON.stringify(values), whole]))
const unlistedMax = ({ groups, groupsTotal }: StatsResult): number =>
  groupsTotal > groups.length ? Math.min(...groups.map(({ whole }) => whole.count)) : 0

type BaselineWindows = { windows: number; windowMs: number }

async function patternsIn(world: FactsWorld, orgId: string, sides: ComparedQueries, { windows, windowMs }: BaselineWindows) {
  const request = { calls: [COUNT, ...TIMES, ...LAST_TEXTS], groups: ['@pattern'], limit: PATTERNS_MAX }
  const [window = sides.window, baseline = sides.baseline] = await inSameFamilies(world.events, sides.window, sides.baseline)
  const { now, before, pairs } = await compared(world, { window, baseline }, request, windows)
  const logIds = window.sources.map(({ logId }) => logId)
  const ids = pairs.flatMap(({ values: [id] }) => id ?? [])
  const write = await templateWriter(world, orgId, { logIds, ids })
  const all = pairs.map(({ values, measured, ...count }): FoundPattern => {
    const stats = measured.map((side) => side.stats.map(({ value }) => value))
    const texts = stats.at(-1)?.slice(1 + TIMES.length) ?? []
    const surprise = rateSurprise({ ...count, nowMs: windowMs, beforeMs: windows * windowMs })
    const example = String(texts.at(-1) ?? '')
    const [firstMs, lastMs] = [numberIn(stats[0]?.[1]), numberIn(stats.at(-1)?.[2])]
    return { template: templateIn(write, values, texts), example, ...count, firstMs, lastMs, surprise }
  })
  return { now, before, patterns: significantOnly(all, all.length).slice(0, SHOWN_MAX) }
}

function templateIn(
  write: Awaited<ReturnType<typeof templateWriter>>,
  [id]: readonly (string | null)[],
  texts: readonly (number | string | null | undefined)[],
): string {
  const [line, ...messages] = texts.toReversed().map((text) => (typeof text === 'string' ? text : undefined))
  return write(
    { id: id ?? '' },
    messages.reverse().find((text) => text !== undefined),
    line ?? '',
  )
}

const numberIn = (value: number | string | null | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

type Totals = { now: number; before: number }

/** Compares the shares of the values of each key; without baseline events there is nothing to compare. */
async function valuesIn(world: FactsWorld, sides: ComparedQueries, keys: readonly string[], totals: Totals): Promise<FoundValue[]> {
  if (totals.now === 0 || totals.before === 0) return []
  const all: FoundValue[] = []
  const waiting = [...keys]
  const work = async (): Promise<void> => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) all.push(...(await valuesOf(world, sides, key, totals)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return significantOnly(all, all.length).slice(0, SHOWN_MAX)
}

async function valuesOf(world: FactsWorld, sides: ComparedQueries, key: string, totals: Totals): Promise<FoundValue[]> {
  const { pairs } = await compared(world, sides, { calls: [COUNT], groups: [key], limit: VALUES_MAX }, totals.before / totals.now)
  return pairs.map(({ values: [value], now, before }): FoundValue => {
    const surprise = shareSurprise({ now, before, nowOf: totals.now, beforeOf: totals.before })
    return { key, value: value ?? null, now, before, surprise }
  })
}
