import type { Dataset } from '@dendro/api'
import type { TraceableParser } from '@dendro/language/completions'
import { parseSelector, tagKey } from '@dendro/language/selector'
import type { Field } from './fields.ts'
import { eventVocabulary, type QueryContext, type Vocabulary } from './suggestions.ts'

/** Parses a dataset selector as the service does. */
const readSelector: TraceableParser = (text, notes) => parseSelector(text, notes)

/** In a selector, negation also matches datasets without the tag, unlike events without the key. */
const selectorVocabulary: Vocabulary = {
  builtIns: ['log', 'logset', 'log_id'],
  meanings: {
    ...eventVocabulary.meanings,
    '!=': [['!=', 'is not, or is absent']],
    NOT: [
      ['NOT IN (', 'none of, or is absent'],
      ['NOT LIKE', 'not with % and _, or is absent'],
    ],
  },
}

/**
 * knownOfDatasets is what a selector is read with, and the names and tags that can be suggested in it; the counts are of datasets.
 * Those of the system are chosen by the dot that their collections begin with, so of them only these are suggested.
 */
export function selectorContext(datasets: readonly Dataset[]): QueryContext {
  const own = datasets.filter((dataset) => !dataset.is_system_generated)
  return {
    read: readSelector,
    fields: [
      { ...fieldOf('dataset', own, ({ dataset }) => dataset), also: 'log' },
      { ...fieldOf('collection', datasets, ({ collection }) => collection), also: 'logset' },
      ...tagsOf(own).map((tag) => ({
        ...fieldOf(tagKey(tag), own, ({ tags }) => (Object.hasOwn(tags, tag) ? tags[tag] : undefined)),
        also: `tag.${tag}`,
      })),
    ],
    vocabulary: selectorVocabulary,
  }
}

/** The word that is being typed at the end of a selector. */
export const lastWordOf = (text: string): string => /[^\s'"(),=<>!~]*$/.exec(text)?.[0] ?? ''

const tagsOf = (datasets: readonly Dataset[]): string[] => [...new Set(datasets.flatMap(({ tags }) => Object.keys(tags)))].sort()

function fieldOf(name: string, datasets: readonly Dataset[], valueIn: (dataset: Dataset) => string | undefined): Field {
  const counts = new Map<string, number>()
  for (const dataset of datasets) {
    const value = valueIn(dataset)
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const values = [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
  return { name, count: values.reduce((sum, { count }) => sum + count, 0), values }
}
