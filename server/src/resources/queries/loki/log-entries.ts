import { badRequest } from '../../../kernel/errors.ts'
import { Stretch } from '../../../kernel/steps.ts'
import type { LabelSet } from './event-labels.ts'
import { FIELD_ENDING } from './label-names.ts'
import type { LogqlLogs, LogqlStage } from './logql/tree.ts'
import { eventQueryOf, type LabeledEvent, type LokiCaller, planLogs, readLabeled } from './loki-query.ts'
import { compilePipeline, type LinePipeline } from './pipeline.ts'
import { PipelineLabels } from './pipeline-labels.ts'

/** One line of an answer, with the labels of its stream and the further ones. */
export type LogEntry = {
  readonly timeNs: bigint
  readonly seq: bigint
  readonly line: string
  readonly stream: LabelSet
  readonly metadata: LabelSet
  readonly parsed: LabelSet
}

export type EntriesRequest = { readonly startNs: bigint; readonly endNs: bigint; readonly limit: number; readonly newestFirst: boolean }

/** A query that filters by what only its stages find reads at most this many events. */
export const SCANNED_EVENTS_MAX = 100_000
const SCANNED_AT_ONCE = 2_000
const NS_PER_MS = 1_000_000n

const filtering: ReadonlySet<LogqlStage['kind']> = new Set<LogqlStage['kind']>(['line', 'labels'])

/** Returns the newest or oldest lines of a query. */
export async function readEntries(caller: LokiCaller, logs: LogqlLogs, request: EntriesRequest): Promise<LogEntry[]> {
  const { startNs, endNs, limit, newestFirst } = request
  const planned = await planLogs(caller, logs)
  const query = await eventQueryOf(caller, planned, boundsOf(request))
  const isFiltered = planned.rest.some(({ kind }) => filtering.has(kind))
  const pipeline = compilePipeline(planned.rest)
  const entries: LogEntry[] = []
  const stretch = new Stretch()
  let scanned = 0
  // The first and the last millisecond may contain events outside the range.
  const atOnce = () => (isFiltered ? SCANNED_AT_ONCE : Math.max(1, limit - entries.length))
  for await (const batch of readLabeled(caller, planned, query, { newestFirst, atOnce })) {
    for (const one of batch) {
      if (one.event.timeNs < startNs || one.event.timeNs >= endNs) continue
      const entry = entryOf(one, pipeline)
      if (entry) entries.push(entry)
      if (entries.length === limit) return entries
      const pause = stretch.pause()
      if (pause) await pause
    }
    scanned += batch.length
    if (scanned >= SCANNED_EVENTS_MAX) throw tooManyScanned(`found ${entries.length} of ${limit} lines`)
  }
  return entries
}

export const tooManyScanned = (reason: string) =>
  badRequest(
    `the stages of this query that the store cannot apply had to be applied to more than ${SCANNED_EVENTS_MAX} events (${reason}); ` +
      'narrow the range or the selector, or put conditions on fields in front of the first parser: the fields of events need none',
  )

export function entryOf({ event, line, labels: given }: LabeledEvent, pipeline: LinePipeline): LogEntry | undefined {
  const labels = new PipelineLabels(given)
  const written = pipeline(line, labels)
  if (written === undefined) return undefined
  const { stream, metadata, parsed } = labels
  return { timeNs: event.timeNs, seq: event.seq, line: written, stream, metadata: withoutRepeated(metadata, stream), parsed }
}

/** A field with the name and value of a label says nothing more, such as the level that a receiver has read. */
const withoutRepeated = (metadata: LabelSet, stream: LabelSet): LabelSet =>
  new Map(
    [...metadata].filter(([name, value]) => !name.endsWith(FIELD_ENDING) || stream.get(name.slice(0, -FIELD_ENDING.length)) !== value),
  )

/** The whole milliseconds that contain a range. */
export const boundsOf = ({ startNs, endNs }: Pick<EntriesRequest, 'startNs' | 'endNs'>) => ({
  fromMs: Number(startNs / NS_PER_MS),
  toMs: Number((endNs + NS_PER_MS - 1n) / NS_PER_MS),
})
