import type { Selector, SelectorSubject } from '@dendro/language/selector'
import { anySelector, datasetId, nastyName, nastyWord } from '@dendro/language/selectors.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../kernel/errors.ts'
import { parseSelector } from './query.ts'
import { matchDatasets, type SelectableDataset } from './selector.ts'

const dataset: fc.Arbitrary<SelectableDataset> = fc
  .record({ id: datasetId, collection: nastyWord, dataset: nastyWord, tags: fc.array(fc.tuple(nastyName, nastyWord), { maxLength: 4 }) })
  .map((record) => ({ ...record, tags: Object.fromEntries(record.tags), is_system_generated: record.collection.startsWith('.') }))

test('datasets are selected like a direct interpretation of the tree', () => {
  fc.assert(
    fc.property(anySelector, fc.array(dataset, { maxLength: 5 }), (selector, datasets) => {
      expect(matchDatasets(selector, datasets)).toEqual(datasets.filter((one) => plainlyChosen(selector, one)))
    }),
    { numRuns: 500 },
  )
})

test('the longest selectors are read and matched without a blow-up', () => {
  const hostile = [
    `a LIKE '${'%a'.repeat(499)}'`,
    `a IN (${"'',".repeat(900)}'')`,
    `${'('.repeat(64)}a = 1${')'.repeat(64)}`,
    `a = ${"''".repeat(2_000)}`,
    `a = ${'b '.repeat(2_000)}`,
    '='.repeat(4_096),
    '~'.repeat(4_096),
    'a'.repeat(4_096),
    `${' '.repeat(4_000)}a = 1`,
  ]
  const long: SelectableDataset = { id: '', collection: '', dataset: '', tags: { a: 'a'.repeat(255) }, is_system_generated: false }
  for (const text of hostile) {
    try {
      matchDatasets(
        parseSelector(text),
        Array.from({ length: 100 }, () => long),
      )
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(Failure)
    }
  }
})

function plainlyChosen(selector: Selector, one: SelectableDataset): boolean {
  return plainly(selector, one) && (!one.is_system_generated || plainlyNamed(selector, one, true))
}

function plainly(selector: Selector, one: SelectableDataset): boolean {
  switch (selector.kind) {
    case 'all':
      return true
    case 'and':
      return selector.of.every((part) => plainly(part, one))
    case 'or':
      return selector.of.some((part) => plainly(part, one))
    case 'not':
      return !plainly(selector.of, one)
    default: {
      const value = plainValue(selector.subject, one)
      if (value === undefined || selector.kind === 'present') return value !== undefined
      if (selector.kind === 'in') return selector.values.includes(value)
      const fold = (text: string) => (selector.ignoreCase ? [...text].map(foldOne) : [...text])
      return plainLike(fold(value), fold(selector.pattern))
    }
  }
}

function plainValue(about: SelectorSubject, one: SelectableDataset): string | undefined {
  if (about.kind === 'tag') return new Map(Object.entries(one.tags)).get(about.key)
  return { log_id: one.id, dataset: one.dataset, collection: one.collection, metric_name: undefined }[about.kind]
}

function plainlyNamed(selector: Selector, one: SelectableDataset, wanted: boolean): boolean {
  if (selector.kind === 'and' || selector.kind === 'or') return selector.of.some((part) => plainlyNamed(part, one, wanted))
  if (selector.kind === 'not') return plainlyNamed(selector.of, one, !wanted)
  if (selector.kind !== 'in' || !wanted) return false
  if (selector.subject.kind === 'log_id') return selector.values.includes(one.id)
  if (selector.subject.kind !== 'collection' && selector.subject.kind !== 'dataset') return false
  const name = one[selector.subject.kind]
  return name.startsWith('.') && selector.values.includes(name)
}

/** Tries every possibility for each `%`, character by character. */
function plainLike(value: readonly string[], pattern: readonly string[]): boolean {
  const [mark, next] = pattern
  if (mark === undefined) return value.length === 0
  if (mark === '%') return plainLike(value, pattern.slice(1)) || (value.length > 0 && plainLike(value.slice(1), pattern))
  const escaped = mark === '\\' && (next === '%' || next === '_' || next === '\\')
  if (value.length === 0 || !(mark === '_' || value[0] === (escaped ? next : mark))) return false
  return plainLike(value.slice(1), pattern.slice(escaped ? 2 : 1))
}

function foldOne(character: string): string {
  const upper = character.toUpperCase()
  const same = (other: string) => other.length === character.length
  const base = same(upper) ? upper : character
  return same(base.toLowerCase()) ? base.toLowerCase() : base
}
