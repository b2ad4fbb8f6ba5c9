import type { Filter } from '@dendro/language/tree'
import type { MatchableEvent } from '../../../query/matchable-event.ts'
import { type EventMatcher, matcherOf } from '../../../query/matcher.ts'
import { parseFilter } from '../../../query/query.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import type { RequiredEvents } from '../../access/policies/policies.ts'
import { type DatasetRow, type DatasetSelection, datasetSelectionOf } from '../../data/datasets/datasets.ts'
import { rawText } from '../../data/event-queries/event-queries.ts'
import type { LiveTailRow } from './rows.ts'

/** The datasets and events that a job selects. `matches` is undefined when it selects all events. */
export type TailSelection = { selectDatasets: DatasetSelection; matches: EventMatcher | undefined }

export function selectionOf({ source, condition }: Pick<LiveTailRow, 'source' | 'condition'>): TailSelection {
  const { filter } = parseFilter(condition)
  return { matches: filter.kind === 'all' ? undefined : matcherOf(filter), selectDatasets: datasetSelectionOf(source) }
}

/** Reports whether a caller may see a found event. */
export type EventVisibility = (event: FoundEvent) => boolean

/** The events that a caller sees of these datasets, and of no others. */
export function visibleEvents(datasets: readonly DatasetRow[], seen: RequiredEvents | undefined): EventVisibility {
  const byId = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  if (!seen) return ({ logId }) => byId.has(logId)
  const matchers = new Map<Filter, EventMatcher>()
  return (event) => {
    const dataset = byId.get(event.logId)
    const filter = dataset && seen(dataset)
    if (!dataset || !filter) return dataset !== undefined
    const matches = matchers.get(filter) ?? matcherOf(filter)
    matchers.set(filter, matches)
    return matches(matchableEvent(event, dataset))
  }
}

/** The events that a job selects among those that its caller sees. Undefined for all events. */
export function selectedEvents(
  matches: EventMatcher | undefined,
  datasetsById: ReadonlyMap<string, DatasetRow>,
  seen: RequiredEvents | undefined,
): EventVisibility | undefined {
  const matching = matches && foundEventMatcher(matches, datasetsById)
  if (!seen) return matching
  const isVisible = visibleEvents([...datasetsById.values()], seen)
  return matching ? (event) => isVisible(event) && matching(event) : isVisible
}

/** Applies a matcher to found events. */
const foundEventMatcher =
  (matches: EventMatcher, datasetsById: ReadonlyMap<string, DatasetRow>): EventVisibility =>
  (event) =>
    matches(matchableEvent(event, datasetsById.get(event.logId)))

/** Decodes a line only when a condition reads it. */
const matchableEvent = (event: FoundEvent, { collection = '', dataset = '' }: Partial<DatasetRow> = {}): MatchableEvent => ({
  ...event,
  collection,
  dataset,
  get raw() {
    return rawText(event.raw)
  },
})
