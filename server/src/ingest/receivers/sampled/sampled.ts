import type { IngestRequest, MessageParser, Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import type { WaitingBody } from '../../intake/waiting.ts'
import { TRACES } from '../otlp/export-request.ts'
import { describesSource } from '../source-attributes.ts'

/** The attribute that says how many traces a stored one stands for. Traces without it stand for themselves. */
const WEIGHT = '$sampling.weight'

/** Where spans go that have waited, and the weight of each trace of the batch, in their order; 0 for those that are not stored. */
export type SampledQuery = { readonly collection: string; readonly dataset: string; readonly weights: readonly number[] }

/** Accepts spans whose traces are decided. */
export const sampled: MessageParser = {
  name: 'sampled',
  systemCollections: [TRACES],
  parse,
  isLabel: (attribute) => describesSource(attribute),
}

function parse({ body, query }: IngestRequest): ParsedBody {
  const { collection, dataset, weights } = JSON.parse(query.sampled ?? '') as SampledQuery
  const { attributes, records: waiting } = JSON.parse(Buffer.from(body).toString('utf8')) as WaitingBody
  const records: ReceivedRecord[] = []
  for (const { trace, raw, ...record } of waiting) {
    const weight = weights[trace] ?? 0
    if (weight === 0) continue
    const added: readonly Pair[] = weight === 1 ? [] : [[WEIGHT, String(weight)]]
    // Only the service says how a trace was sampled here.
    const own = weight === 1 ? record.attributes : record.attributes.filter(([name]) => name !== WEIGHT)
    records.push({ ...record, level: record.level, raw: Buffer.from(raw, 'base64'), attributes: [...own, ...added] })
  }
  const batches = [{ collection, dataset, attributes, events: { kind: 'records' as const, records } }]
  return { batches: records.length === 0 ? [] : batches, rejected: [], total: records.length }
}
