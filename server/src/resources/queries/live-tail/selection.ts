import type { MatchableEvent } from '../../../query/matchable-event.ts'
import { type EventMatcher, matcherOf } from '../../../query/matcher.ts'
import { parseFilter } from '../../../query/query.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import { type DatasetRow, type DatasetSelection, datasetSelectionOf } from '../../data/datasets/datasets.ts'
import { rawText } from '../../data/event-queries/event-queries.ts'
import type { LiveTailRow } from './rows.ts'

/** The datasets and events that a job selects. `matches` is undefined when it selects all events. */
export type TailSelection = { selectDatasets: DatasetSelection; matches: EventMatcher | undefined }

export function selectionOf({ source, condition }: Pick<LiveTailRow, 'source' | 'condition'>): TailSelection {
  const { filter } = parseFilter(condition)
  return { matches: filter.kind === 'all' ? undefined : matcherOf(filter), selectDatasets: datasetSelectionOf(source) }
}

/** Applies a matcher to found events. It decodes a line only when the condition reads it. */
export function foundEventMatcher(matches: EventMatcher, datasetsById: ReadonlyMap<string, DatasetRow>): (event: FoundEvent) => boolean {
  return (event) => {
    const { collection = '', dataset = '' } = datasetsById.get(event.logId) ?? {}
    const matchable: MatchableEvent = {
      ...event,
      collection,
      dataset,
      get raw() {
        return rawText(event.raw)
      },
    }
    return matches(matchable)
  }
}
