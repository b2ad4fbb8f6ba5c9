import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { AddressDatabases } from '../../../ingest-rules/address-databases.ts'
import type { ArrivingEvent } from '../../../ingest-rules/arriving-event.ts'
import { checkRule } from '../../../ingest-rules/check-rule.ts'
import { RuleCompiler, type RuleResult } from '../../../ingest-rules/ingest-rules.ts'
import { RuleRun } from '../../../ingest-rules/rule-run.ts'
import { RuleTime } from '../../../ingest-rules/rule-time.ts'
import { badField } from '../../../kernel/errors.ts'
import { Stretch } from '../../../kernel/steps.ts'
import { fromNs } from '../../../lines/values/time-text.ts'
import type { MatchableEvent } from '../../../query/matchable-event.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, sourceDatasets } from '../datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, rawText } from '../event-queries/event-queries.ts'
import { checkSources, ruleSources } from './rule-sources.ts'

type PreviewRequest = BodyOf<typeof contract.ingestRules.preview>
type Preview = ReplyOf<typeof contract.ingestRules.preview>
type Sample = Preview['samples'][number]

const EVENTS_MAX = 1_000
const BACK_MS = 7 * 86_400_000
const AHEAD_MS = 86_400_000
const LINE_CHARS_MAX = 4_000
/** Bounds the time for which a rule is tried. */
const TIME_MAX_MS = 2_000

/** Applies a rule to recent events that the caller may see. */
export async function previewRule(
  world: Pick<World, 'addressFiles' | 'clock' | 'deployment' | 'events' | 'meta' | 'admission'>,
  actor: Actor,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<Preview> {
  const { where, action } = request
  checkRule({ where, action })
  if (action.type === 'TAIL_SAMPLE') {
    throw badField('action.type', 'must not be TAIL_SAMPLE: it decides about whole traces while they arrive', 'NO_PREVIEW')
  }
  await checkSources(world, actor.orgId, action)
  const datasets = await sourceDatasets(world, actor, request)
  const events = await recentEvents(world, actor, datasets, signal)
  const rules = [{ id: 'preview', position: 0, version: 1, where, action }]
  const sources = await ruleSources(
    world,
    actor.orgId,
    rules,
    datasets.map(({ id }) => id),
  )
  // The time begins here: a large table may take long to load.
  const run = new RuleRun(new RuleTime(), sources, new AddressDatabases())
  const chain = new RuleCompiler().of(rules, run)
  const byId = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  const stretch = new Stretch()
  const endMs = performance.now() + TIME_MAX_MS
  const totals = { events: 0, changed: 0, bytes: 0, bytes_saved: 0 }
  const samples: Preview['samples'] = []
  let oldest: FoundEvent | undefined
  for (const found of events) {
    if (performance.now() > endMs || signal.aborted) break
    oldest = found
    const event = arrivingEvent(found)
    const result = chain.apply(event, () => matchableEvent(found, run, byId.get(found.logId)))
    const after = result.kind === 'dropped' ? undefined : result.event
    totals.events += 1
    totals.bytes += event.line.length
    totals.bytes_saved += event.line.length - (after?.line.length ?? 0)
    if (result.kind === 'changed' || result.kind === 'moved') totals.changed += 1
    if (result.kind !== 'kept' && samples.length < request.limit) {
      const { logId: log_id, timeNs } = found
      samples.push({ log_id, time: fromNs(timeNs).ms, before: shownLine(event.line), ...(after && shownChange(event, after, result)) })
    }
    const pause = stretch.pause()
    if (pause) await pause
  }
  const { dropped } = chain.counts
  const newest = events[0]
  return {
    ...totals,
    is_whole: totals.events === events.length && events.length < EVENTS_MAX,
    ...(oldest && newest ? { start_time: fromNs(oldest.timeNs).ms, end_time: fromNs(newest.timeNs).ms } : {}),
    matched: chain.matched,
    dropped,
    share: shareOf(dropped + totals.changed, totals.events),
    share_saved: shareOf(totals.bytes_saved, totals.bytes),
    samples,
  }
}

const ADDED_MAX = 100

function shownChange(before: ArrivingEvent, after: ArrivingEvent, result: RuleResult<ArrivingEvent>): Partial<Sample> {
  const had = new Set([...before.keys, ...before.attributes].map(([name, text]) => `${name}=${text}`))
  const isAdded = ([name, text]: readonly [string, string]): boolean => !had.has(`${name}=${text}`)
  const added = [...after.keys, ...after.attributes].filter(isAdded).slice(0, ADDED_MAX)
  return {
    after: shownLine(after.line),
    ...(added.length === 0 ? {} : { added: Object.fromEntries(added) }),
    ...(result.kind === 'moved' ? { moved_to: result.to } : {}),
  }
}

async function recentEvents(
  world: Pick<World, 'clock' | 'deployment' | 'events' | 'meta' | 'admission'>,
  actor: Actor,
  datasets: DatasetRow[],
  signal: AbortSignal,
): Promise<readonly FoundEvent[]> {
  const nowMs = world.clock.nowMs()
  const bounds = { fromMs: nowMs - BACK_MS, toMs: nowMs + AHEAD_MS }
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: ALL_EVENTS, bounds, signal })
  return (await readEvents(world.events, eventQuery, { limit: EVENTS_MAX, newestFirst: true, keys: 'all', withRaw: true })).events
}

const isAttribute = ([name]: readonly [string, string]): boolean => name.startsWith('$')

const arrivingEvent = ({ raw = new Uint8Array(), leaves }: FoundEvent): ArrivingEvent => ({
  line: raw,
  keys: [],
  attributes: [...leaves].filter(isAttribute),
})

const matchableEvent = (found: FoundEvent, run: RuleRun, { collection = '', dataset = '' }: Partial<DatasetRow> = {}): MatchableEvent => ({
  ...found,
  family: run.familyOf(found.skeleton) ?? found.skeleton,
  collection,
  dataset,
  raw: rawText(found.raw),
})

const shownLine = (line: Uint8Array): string => rawText(line).slice(0, LINE_CHARS_MAX).toWellFormed()

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)
