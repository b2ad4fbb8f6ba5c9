import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { checkRule } from '../../../ingest-rules/check-rule.ts'
import { type ArrivingEvent, RuleCompiler, RuleTime } from '../../../ingest-rules/ingest-rules.ts'
import { Stretch } from '../../../kernel/steps.ts'
import { fromNs } from '../../../lines/values/time-text.ts'
import type { MatchableEvent } from '../../../query/matchable-event.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, sourceDatasets } from '../datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, rawText } from '../event-queries/event-queries.ts'

type PreviewRequest = BodyOf<typeof contract.ingestRules.preview>
type Preview = ReplyOf<typeof contract.ingestRules.preview>

const EVENTS_MAX = 1_000
const BACK_MS = 7 * 86_400_000
const AHEAD_MS = 86_400_000
const LINE_CHARS_MAX = 4_000
/** Bounds the time for which a rule is tried. */
const TIME_MAX_MS = 2_000

/** Applies a rule to recent events that the caller may see. */
export async function previewRule(
  world: Pick<World, 'clock' | 'deployment' | 'events' | 'meta' | 'admission'>,
  actor: Actor,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<Preview> {
  const { where, action } = request
  checkRule({ where, action })
  const datasets = await sourceDatasets(world, actor, request)
  const events = await recentEvents(world, actor, datasets, signal)
  const chain = new RuleCompiler().of([{ id: 'preview', version: 1, where, action }], new RuleTime())
  const byId = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  const stretch = new Stretch()
  const endMs = performance.now() + TIME_MAX_MS
  const totals = { events: 0, changed: 0, bytes: 0, bytes_saved: 0 }
  const samples: Preview['samples'] = []
  for (const found of events) {
    if (performance.now() > endMs || signal.aborted) break
    const event = arrivingEvent(found)
    const result = chain.apply(event, () => matchableEvent(found, byId.get(found.logId)))
    const after = result.kind === 'dropped' ? undefined : result.event.line
    totals.events += 1
    totals.bytes += event.line.length
    totals.bytes_saved += event.line.length - (after?.length ?? 0)
    if (result.kind === 'changed') totals.changed += 1
    if (result.kind !== 'kept' && samples.length < request.limit) {
      const { logId: log_id, timeNs } = found
      samples.push({ log_id, time: fromNs(timeNs).ms, before: shownLine(event.line), ...(after && { after: shownLine(after) }) })
    }
    const pause = stretch.pause()
    if (pause) await pause
  }
  const { dropped } = chain.counts
  return {
    ...totals,
    matched: chain.matched,
    dropped,
    share: shareOf(dropped + totals.changed, totals.events),
    share_saved: shareOf(totals.bytes_saved, totals.bytes),
    samples,
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

const matchableEvent = (found: FoundEvent, { collection = '', dataset = '' }: Partial<DatasetRow> = {}): MatchableEvent => ({
  ...found,
  collection,
  dataset,
  raw: rawText(found.raw),
})

const shownLine = (line: Uint8Array): string => rawText(line).slice(0, LINE_CHARS_MAX).toWellFormed()

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)
