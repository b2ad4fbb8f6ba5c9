import type { FoundEvent } from '../../../reading/event-query.ts'
import { statusOf } from '../../data/event-queries/event-queries.ts'
import { baseOf, compareBases, isStreamAttribute, labelNameOf } from './label-names.ts'

export type LabelSet = ReadonlyMap<string, string>

/** The labels of the stream of an event, and its structured metadata. */
export type EventLabels = { readonly stream: LabelSet; readonly metadata: LabelSet }

type Candidate = { readonly base: string; readonly isField: boolean; readonly value: string }

/** Reads the labels of an event as `LabelKeys` finds them in the store. */
export function eventLabels(event: FoundEvent, { collection, dataset }: { collection: string; dataset: string }): EventLabels {
  const attributes = new Map<string, Candidate>()
  const all = new Map<string, Candidate>()
  for (const [key, value] of event.leaves) {
    const base = baseOf(key)
    const name = labelNameOf(base)
    const candidate = { base, isField: !key.startsWith('$'), value }
    if (isStreamAttribute(key)) keepFirst(attributes, name, candidate)
    keepFirst(all, name, candidate)
  }
  const stream = valuesOf(attributes)
  const level = statusOf(event.severity)
  for (const [name, value] of Object.entries({ collection, dataset, level })) if (!stream.has(name)) stream.set(name, value)
  const metadata = new Map<string, string>()
  for (const [name, { value }] of all) if (stream.get(name) !== value) metadata.set(name, value)
  if (!all.has('detected_level')) metadata.set('detected_level', level)
  return { stream, metadata }
}

const valuesOf = (candidates: ReadonlyMap<string, Candidate>): Map<string, string> =>
  new Map([...candidates].map(([name, { value }]) => [name, value]))

/** Of several keys with the same name of a label, one is kept; of a field and an attribute with the same key, the field. */
function keepFirst(candidates: Map<string, Candidate>, name: string, candidate: Candidate): void {
  const known = candidates.get(name)
  const order = known ? compareBases(name, candidate.base, known.base) : -1
  if (order < 0 || (order === 0 && candidate.isField)) candidates.set(name, candidate)
}
