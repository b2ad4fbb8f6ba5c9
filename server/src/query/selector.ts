import type { Dataset } from '@dendro/api'
import type { Selector, SelectorSubject } from '@dendro/language/selector'
import { likeMatcher } from './like.ts'

export type SelectableDataset = Pick<Dataset, 'id' | 'collection' | 'dataset' | 'tags' | 'is_system_generated'>

/** Returns the datasets that a selector matches. System datasets match only when `=` or `IN` names them. */
export function matchDatasets<D extends SelectableDataset>(selector: Selector, datasets: readonly D[]): D[] {
  const holds = testOf(selector)
  const named = namesIn(selector)
  return datasets.filter((dataset) => (!dataset.is_system_generated || isNamed(dataset, named)) && holds(dataset))
}

function propertyOf(dataset: SelectableDataset, subject: SelectorSubject): string | undefined {
  switch (subject.kind) {
    case 'log_id':
      return dataset.id
    case 'dataset':
      return dataset.dataset
    case 'collection':
      return dataset.collection
    case 'metric_name':
      return undefined
    case 'tag':
      return Object.hasOwn(dataset.tags, subject.key) ? dataset.tags[subject.key] : undefined
  }
}

type Test = (dataset: SelectableDataset) => boolean

/** Compiles a selector. The parser limits the depth of the recursion. */
function testOf(selector: Selector): Test {
  switch (selector.kind) {
    case 'all':
      return () => true
    case 'and': {
      const tests = selector.of.map(testOf)
      return (dataset) => tests.every((test) => test(dataset))
    }
    case 'or': {
      const tests = selector.of.map(testOf)
      return (dataset) => tests.some((test) => test(dataset))
    }
    case 'not': {
      const test = testOf(selector.of)
      return (dataset) => !test(dataset)
    }
    case 'in': {
      const values: ReadonlySet<string | undefined> = new Set(selector.values)
      return (dataset) => values.has(propertyOf(dataset, selector.subject))
    }
    case 'like': {
      const matches = likeMatcher(selector)
      return (dataset) => {
        const value = propertyOf(dataset, selector.subject)
        return value !== undefined && matches(value)
      }
    }
    case 'present':
      return (dataset) => propertyOf(dataset, selector.subject) !== undefined
  }
}

/** Collects the ids and dotted names that a selector requires. Negated conditions name nothing. */
function namesIn(
  selector: Selector,
  wanted: 'wanted' | 'unwanted' = 'wanted',
): { subject: SelectorSubject; values: ReadonlySet<string> }[] {
  switch (selector.kind) {
    case 'and':
    case 'or':
      return selector.of.flatMap((part) => namesIn(part, wanted))
    case 'not':
      return namesIn(selector.of, wanted === 'wanted' ? 'unwanted' : 'wanted')
    case 'in': {
      if (wanted === 'unwanted' || selector.subject.kind === 'tag') return []
      const { subject, values } = selector
      return [{ subject, values: new Set(subject.kind === 'log_id' ? values : values.filter((value) => value.startsWith('.'))) }]
    }
    case 'all':
    case 'like':
    case 'present':
      return []
  }
}

const isNamed = (dataset: SelectableDataset, named: ReturnType<typeof namesIn>): boolean =>
  named.some(({ subject, values }) => values.has(propertyOf(dataset, subject) ?? ''))
