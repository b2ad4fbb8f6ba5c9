import type { BodyOf, contract, Finding, FindingName, ReplyOf } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badField, Failure } from '../../../kernel/errors.ts'
import { patternId } from '../../../kernel/pattern-id.ts'
import { boundsOf } from '../../../query/bounds.ts'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventQuery, TimeBounds } from '../../../reading/query.ts'
import {
  type ComparedBounds,
  type ComparedKey,
  columnKeys,
  combinedRange,
  countMatching,
  openComparison,
  type PatternCounts,
  type RangeComparison,
  type RangeTotals,
} from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { datasetSelectionOf, selectedDatasets } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery, isSampled, recordSearch } from '../../data/event-queries/event-queries.ts'
import { patternTemplates } from '../patterns/patterns.ts'
import { type Candidates, chooseKeys } from './candidates.ts'
import type { ExplainedChange, FindingGroup } from './causes.ts'
import { groupsOf } from './explained.ts'
import { type EventSet, findChanges, promisingKeys } from './findings.ts'
import { sampleEvent, sampleRange } from './sample.ts'
import { type ComparedWords, filterOfSet, labelOf, selectionSummaryOf, sentenceOf, summaryOf } from './sentences.ts'

type ChangesRequest = BodyOf<typeof contract.changes.find>
type FoundChanges = ReplyOf<typeof contract.changes.find>

const DEFAULT_RANGE = 'last 20 minutes'
const LIMIT = 20
/** How many keys are counted in a part of the events, and how many of them at least in all. */
const KEYS_MAX = 60
const KEYS_MIN = 8
/** Bounds the events that are read times the keys, for the time that a comparison takes. */
const CELLS_MAX = 32_000_000
/** The events of which a part is enough to choose keys. */
const PART_EVENTS = 200_000
/** How many skipped keys are listed. */
const SKIPPED_MAX = 200
/** A key with more values is not compared. */
const VALUES_MAX = 10_000

/** Compares the matching events of a range with those of a baseline. */
export async function findChangesIn(world: World, actor: Actor, request: ChangesRequest, signal: AbortSignal): Promise<FoundChanges> {
  const { filter, bounds, choose } = parseAll({
    filter: () => parseFilter(request.where ?? '').filter,
    bounds: () => comparedBounds(request, world.clock.nowMs()),
    choose: () => datasetSelectionOf(request),
  })
  const startedMs = world.clock.monotonicMs()
  const datasets = await selectedDatasets(world, actor, choose)
  const query = await buildEventQuery(world, actor, { datasets, filter, bounds: combinedRange(bounds), signal })
  const { cost, ...found } = await compareEvents(world, actor.orgId, { query, bounds, limit: request.limit ?? LIMIT })
  const ms = recordSearch(world, actor, { datasets, bytes: cost.bytes, startedMs })
  return { ...found, cost: { rows: cost.rows, bytes: cost.bytes, ms } }
}

type ComparisonRequest = {
  readonly query: EventQuery
  readonly bounds: ComparedBounds
  readonly limit: number
  /** Compares the events that match it with the others of the same range, which is both of the bounds. */
  readonly selected?: Filter
  /** The keys of ids, which are not compared. */
  readonly ids?: ReadonlySet<string>
}

/** Compares the events of a query that is already planned; its bounds enclose both ranges. */
export async function compareEvents(
  world: Pick<World, 'meta' | 'events'>,
  orgId: string,
  { query, bounds, limit, selected, ids }: ComparisonRequest,
): Promise<Omit<FoundChanges, 'cost'> & { cost: { rows: number; bytes: number } }> {
  const kept = withinRetention(query, bounds)
  const comparison = await openComparison(world.events, query, kept, selected)
  const [found, sampled] = await Promise.all([
    compareRanges(world, { query, bounds: kept, comparison, selected, ids }),
    countMatching(world.events, { ...query, filter: and(query.filter, isSampled) }),
  ])
  const shown = shownGroups(found.groups, limit)
  const listed = shown.flatMap((group) => group.findings)
  const templates = await templatesOf(world, orgId, query, listed.flatMap(namesIn), found.patterns)
  const words = selected ? 'selection' : 'ranges'
  const findings = listed.map((one) => findingOf(one, found.totals, { templates, words }))
  return {
    range: { from_ts: kept.now.fromMs, to_ts: kept.now.toMs, count: found.totals.now },
    baseline: { from_ts: kept.before.fromMs, to_ts: kept.before.toMs, count: found.totals.before },
    summary: selected ? selectionSummaryOf(found.totals, findings[0]?.text) : summaryOf(found.totals, lengthsOf(kept), findings[0]?.text),
    findings,
    groups: shown.map(({ findings: own, shared }) => ({
      findings: own.map((one) => listed.indexOf(one)),
      shared: shared.map((set) => nameOf(set, templates)),
    })),
    findings_total: found.groups.reduce((sum, group) => sum + group.findings.length, 0),
    compared: ['@pattern', ...found.candidates.keys.map(({ key }) => key)],
    skipped: found.candidates.skipped.slice(0, SKIPPED_MAX).map((one) => ({ ...one })),
    is_sampled: sampled.count > 0,
    cost: { rows: comparison.cost().rows + sampled.cost.rows, bytes: comparison.cost().bytes + sampled.cost.bytes },
  }
}

/** The first groups that have at most a number of findings together. */
function shownGroups(groups: readonly FindingGroup[], limit: number): readonly FindingGroup[] {
  let left = limit
  return groups.flatMap((group) => {
    const findings = group.findings.slice(0, left)
    left -= findings.length
    return findings.length === 0 ? [] : [{ ...group, findings }]
  })
}

const namesIn = ({ names, shared }: ExplainedChange): readonly EventSet[] => [...names, ...(shared?.sets ?? [])]

/** The range of a request, and by default the equally long one right before it. */
function comparedBounds(request: ChangesRequest, nowMs: number): ComparedBounds {
  const now = boundsOf(request, nowMs, DEFAULT_RANGE)
  const given = request.baseline
  if (!given) return { now, before: { fromMs: Math.max(0, 2 * now.fromMs - now.toMs), toMs: now.fromMs } }
  if (given.from_ts > given.to_ts) throw badField('baseline.from_ts', 'must not be later than baseline.to_ts', 'OUT_OF_RANGE')
  return { now, before: { fromMs: given.from_ts, toMs: given.to_ts } }
}

/** Cuts both ranges to the time for which some dataset keeps events. */
function withinRetention({ sources }: EventQuery, { now, before }: ComparedBounds): ComparedBounds {
  const keptSinceMs = sources.some((source) => source.keptSinceMs === undefined)
    ? 0
    : Math.min(...sources.map((source) => source.keptSinceMs ?? 0))
  const cut = ({ fromMs, toMs }: TimeBounds) => ({ fromMs: Math.min(toMs, Math.max(fromMs, keptSinceMs)), toMs })
  return { now: cut(now), before: cut(before) }
}

/** Lengths of both ranges. What they share belongs to the range. */
function lengthsOf({ now, before }: ComparedBounds): { nowMs: number; beforeMs: number } {
  const shared = Math.max(0, Math.min(now.toMs, before.toMs) - Math.max(now.fromMs, before.fromMs))
  return { nowMs: now.toMs - now.fromMs, beforeMs: before.toMs - before.fromMs - shared }
}

type ComparedQuery = {
  readonly query: EventQuery
  readonly bounds: ComparedBounds
  readonly comparison: RangeComparison
  readonly selected: Filter | undefined
  readonly ids: ReadonlySet<string> | undefined
}
type PatternTotals = RangeTotals & { readonly id: string; readonly logId: string; readonly newest: bigint }

async function compareRanges({ events: store }: Pick<World, 'events'>, { query, bounds, comparison, selected, ids }: ComparedQuery) {
  const counts = await comparison.patterns()
  const eventsRead = comparison.cost().rows
  const totals = sumOf(counts)
  if (totals.now === 0 || totals.before === 0) {
    const candidates: Candidates = { keys: [], skipped: [] }
    return { totals, patterns: patternTotals(counts, await comparison.families(counts)), candidates, groups: [] }
  }
  const [families, now, before] = await Promise.all([
    comparison.families(counts),
    sampleRange(store, sideOf({ query, bounds, selected }, 'now'), totals.now),
    sampleRange(store, sideOf({ query, bounds, selected }, 'before'), totals.before),
  ])
  const patterns = patternTotals(counts, families)
  const context = { datasets: new Map(query.sources.map((one) => [one.logId, one])), families }
  // The baseline may contain the range, whose events belong to the range only.
  const later = new Set(now.map(({ seq }) => seq))
  const earlier = before.filter(({ seq }) => !later.has(seq))
  const sampled = [now, earlier].map((some) => some.map((event) => sampleEvent(event, context)))
  const chosen = chooseKeys(sampled[0] ?? [], sampled[1] ?? [], {
    columnKeys: columnKeys(query),
    keysMax: KEYS_MAX,
    ...(ids ? { ids } : {}),
  })
  // Selected events have no time of their own: their rates are their shares.
  const lengths = selected ? { nowMs: totals.now, beforeMs: totals.before } : lengthsOf(bounds)
  const { candidates, values } = await countValues(
    comparison,
    await inAllEvents(comparison, chosen, { totals, lengths, eventsRead }),
    totals,
  )
  const changes = findChanges({ totals, lengths, keys: candidates.keys, values, patterns }, sampled.flat())
  const groups = await groupsOf(store, changes, {
    sideOf: (side) => sideOf({ query, bounds, selected }, side),
    comparison,
    context,
    sampled: { now: sampled[0] ?? [], before: sampled[1] ?? [] },
    keys: chosen,
    comparisons: patterns.length + [...values.values()].reduce((sum, { length }) => sum + length, 0),
  })
  return { totals, patterns, candidates, groups }
}

/** The events of one of the sides that are compared. */
function sideOf({ query, bounds, selected }: Omit<ComparedQuery, 'comparison' | 'ids'>, side: 'now' | 'before'): EventQuery {
  if (!selected) return { ...query, bounds: bounds[side] }
  const own: Filter = side === 'now' ? selected : { kind: 'not', of: selected }
  return { ...query, bounds: bounds[side], filter: and(query.filter, own) }
}

type Volume = { readonly totals: RangeTotals; readonly lengths: ReturnType<typeof lengthsOf>; readonly eventsRead: number }

/** With many events, counts the keys in a part of them, and keeps those worth counting in all. */
async function inAllEvents(comparison: RangeComparison, chosen: Candidates, { totals, lengths, eventsRead }: Volume): Promise<Candidates> {
  const keysMax = Math.max(KEYS_MIN, Math.floor(CELLS_MAX / Math.max(1, eventsRead)))
  if (chosen.keys.length <= keysMax) return chosen
  const { candidates, values } = await countValues(comparison, chosen, totals, PART_EVENTS / eventsRead)
  // Every event has a status, so its counts add up to all events of the part.
  const partTotals = sumOf(values.get('@status') ?? [])
  const keys = promisingKeys({ totals: partTotals, lengths, keys: candidates.keys, values }, keysMax)
  const others = candidates.keys.filter((key) => !keys.includes(key)).map(({ key }) => ({ key, reason: 'LESS_PROMISING' as const }))
  return { keys, skipped: [...candidates.skipped, ...others].sort((one, other) => (one.key < other.key ? -1 : 1)) }
}

const sumOf = (counts: readonly RangeTotals[]): RangeTotals =>
  counts.reduce((sum, one) => ({ now: sum.now + one.now, before: sum.before + one.before }), { now: 0, before: 0 })

/** Adds up the patterns of a family. Datasets may share a pattern. */
function patternTotals(
  counts: readonly PatternCounts[],
  families: ReadonlyMap<string, ReadonlyMap<bigint, bigint>>,
): readonly PatternTotals[] {
  const totals = new Map<bigint, PatternTotals>()
  for (const { logId, pattern, now, before, newest } of counts) {
    if (pattern === 0n) continue
    const family = families.get(logId)?.get(pattern) ?? pattern
    const known = totals.get(family)
    const latest = known && known.newest > newest ? known : { logId, newest }
    totals.set(family, {
      id: patternId(family),
      logId: latest.logId,
      newest: latest.newest,
      now: (known?.now ?? 0) + now,
      before: (known?.before ?? 0) + before,
    })
  }
  return [...totals.values()]
}

/** Counts the values. When keys have too many values to count, finds out which, and leaves them out. */
async function countValues(comparison: RangeComparison, { keys, skipped }: Candidates, totals: RangeTotals, share = 1) {
  try {
    return { candidates: { keys, skipped }, values: await comparison.values(keys, totals, share) }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.errors?.[0]?.code !== 'TOO_MANY_GROUPS') throw thrown
    const distinct = await comparison.distinct(keys.flatMap(({ key, edges }) => (edges ? [] : [key])))
    const isMany = ({ key }: ComparedKey) => (distinct.get(key) ?? 0) > VALUES_MAX
    const few = keys.filter((key) => !isMany(key))
    const many = keys.filter(isMany).map(({ key }) => ({ key, reason: 'MANY_VALUES' as const }))
    return { candidates: { keys: few, skipped: [...skipped, ...many] }, values: await comparison.values(few, totals, share) }
  }
}

/** The templates of the patterns that are shown. */
async function templatesOf(
  world: Pick<World, 'meta' | 'events'>,
  orgId: string,
  query: EventQuery,
  names: readonly EventSet[],
  patterns: readonly PatternTotals[],
): Promise<ReadonlyMap<string, string>> {
  const shown = new Set(names.flatMap(({ kind, value }) => (kind === 'PATTERN' && value ? [value] : [])))
  const counted = patterns
    .filter(({ id }) => shown.has(id))
    .map(({ id, logId, now, before, newest }) => ({ id, log_id: logId, count: now + before, sequence: String(newest) }))
  const bySequence = await patternTemplates(world, orgId, query, counted)
  return new Map(counted.map(({ id, sequence }) => [id, bySequence.get(sequence) ?? id]))
}

type Templates = ReadonlyMap<string, string>

const nameOf = (set: EventSet, templates: Templates): FindingName => ({
  ...set,
  label: labelOf(set, set.kind === 'PATTERN' ? templates.get(set.value ?? '') : undefined),
  where: filterOfSet(set),
})

type Shown = { readonly templates: Templates; readonly words: ComparedWords }

function findingOf(one: ExplainedChange, totals: RangeTotals, { templates, words }: Shown): Finding {
  const names = one.names.map((set) => nameOf(set, templates))
  const [share, baselineShare] = [one.now / totals.now, one.before / totals.before]
  const shared = one.shared && {
    names: one.shared.sets.map((set) => nameOf(set, templates)),
    count: one.shared.count,
    others_share: one.shared.othersShare,
  }
  const said = shared && { labels: shared.names.map(({ label }) => label), count: shared.count, othersShare: shared.others_share }
  return {
    change: one.change,
    names,
    where: names[0]?.where ?? '',
    count: one.now,
    baseline_count: one.before,
    share,
    baseline_share: baselineShare,
    lift: one.before === 0 ? null : share / baselineShare,
    significance: one.significance,
    score: one.score,
    shared: shared ?? null,
    text: sentenceOf(
      { ...one, labels: names.map(({ label }) => label), isPattern: names[0]?.kind === 'PATTERN', shared: said },
      totals,
      words,
    ),
  }
}
