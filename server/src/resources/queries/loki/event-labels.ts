import type { FoundEvent } from '../../../reading/query.ts'
import { statusOf } from '../../data/event-queries/event-queries.ts'
import { baseOf, compareBases, FIELD_ENDING, type LabelKeys, labelNameOf } from './label-names.ts'

export type LabelSet = ReadonlyMap<string, string>

/** The labels of the stream of an event, and its structured metadata. */
export type EventLabels = { readonly stream: LabelSet; readonly metadata: LabelSet }

type Candidate = { readonly base: string; readonly isField: boolean; readonly value: string }
type Place = { readonly collection: string; readonly dataset: string }

/** Reads the labels of an event as `LabelKeys` finds them in the store. */
export function eventLabels(event: FoundEvent, { collection, dataset }: Place, keys: LabelKeys): EventLabels {
  const labels = new Map<string, Candidate>()
  const others = new Map<string, Candidate>()
  for (const [key, value] of event.leaves) {
    const base = baseOf(key)
    keepFirst(keys.isLabel(key) ? labels : others, labelNameOf(base), { base, isField: !key.startsWith('$'), value })
  }
  const stream = new Map([...labels].map(([name, { value }]) => [name, value]))
  const level = statusOf(event.severity)
  for (const [name, value] of Object.entries({ collection, dataset, level })) if (!stream.has(name)) stream.set(name, value)
  const metadata = new Map<string, string>()
  for (const [name, { value }] of others) if (!stream.has(name)) metadata.set(name, value)
  for (const [name, { value }] of others) {
    const renamed = `${name}${FIELD_ENDING}`
    if (stream.has(name) && !metadata.has(renamed) && !stream.has(renamed)) metadata.set(renamed, value)
  }
  if (!stream.has('detected_level') && !metadata.has('detected_level')) metadata.set('detected_level', level)
  return { stream, metadata }
}

/** Of several keys with the same name of a label, one is kept; of a field and an attribute with the same key, the field. */
function keepFirst(candidates: Map<string, Candidate>, name: string, candidate: Candidate): void {
  const known = candidates.get(name)
  const order = known ? compareBases(name, candidate.base, known.base) : -1
  if (order < 0 || (order === 0 && candidate.isField)) candidates.set(name, candidate)
}
