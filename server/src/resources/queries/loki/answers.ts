import { mapInSteps } from '../../../kernel/steps.ts'
import type { LabelSet } from './event-labels.ts'
import type { LogEntry } from './log-entries.ts'
import type { LokiCost } from './loki-query.ts'

/** Whether the labels of entries are returned by their origin: those of the stream, structured metadata, and parsed ones. */
export type LabelForm = 'joined' | 'categorized'

type Value = readonly unknown[]
export type StreamAnswer = { stream: Record<string, string>; values: Value[] }

/** Groups entries by their streams, in their order. */
export async function streamsOf(entries: readonly LogEntry[], form: LabelForm): Promise<StreamAnswer[]> {
  const streams = new Map<string, StreamAnswer>()
  await mapInSteps(entries, (entry) => {
    const labels = form === 'joined' ? new Map([...entry.stream, ...entry.parsed]) : entry.stream
    const key = labelKeyOf(labels)
    const stream = streams.get(key) ?? { stream: recordOf(labels), values: [] }
    streams.set(key, stream)
    stream.values.push(entryValue(entry, form))
  })
  return [...streams.values()]
}

function entryValue({ timeNs, line, metadata, parsed }: LogEntry, form: LabelForm): Value {
  if (form === 'joined') return [String(timeNs), line]
  return [
    String(timeNs),
    line,
    {
      ...(metadata.size > 0 ? { structuredMetadata: recordOf(metadata) } : {}),
      ...(parsed.size > 0 ? { parsed: recordOf(parsed) } : {}),
    },
  ]
}

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number => (one < other ? -1 : one > other ? 1 : 0)

/** Identifies a set of labels. Empty labels count as absent. */
export const labelKeyOf = (labels: LabelSet): string => JSON.stringify([...labels].filter(([, value]) => value !== '').sort(byName))

/** The labels as a JSON object, sorted by name. */
export const recordOf = (labels: LabelSet): Record<string, string> =>
  Object.fromEntries([...labels].filter(([, value]) => value !== '').sort(byName))

const MS_PER_S = 1_000

/** The statistics of a query in the form that clients print. */
export function statisticsOf(cost: LokiCost, returned: number, elapsedMs: number): Record<string, unknown> {
  const seconds = Math.max(elapsedMs, 1) / MS_PER_S
  return {
    summary: {
      bytesProcessedPerSecond: Math.round(cost.bytes / seconds),
      linesProcessedPerSecond: Math.round(cost.lines / seconds),
      totalBytesProcessed: cost.bytes,
      totalLinesProcessed: cost.lines,
      execTime: elapsedMs / MS_PER_S,
      queueTime: 0,
      subqueries: 0,
      totalEntriesReturned: returned,
      splits: 0,
      shards: 0,
      totalPostFilterLines: returned,
      totalStructuredMetadataBytesProcessed: 0,
    },
  }
}

/** A number as text, as Prometheus writes it. */
export function sampleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
}
