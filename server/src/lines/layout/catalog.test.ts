import { describe, expect, test } from 'vitest'
import { type DatasetLayout, growLayout, OverflowKeys } from './catalog.ts'
import type { Observation } from './slots.ts'

const seen = (path: string, count = 1, distinct = 1): Observation => ({ path, count, distinct })
const keys = (count: number, prefix: string, times = 1): Observation[] =>
  Array.from({ length: count }, (_, index) => seen(`${prefix}${index}`, times))
const NOBODY = new Map()
const begun = (observed: Observation[]): DatasetLayout => growLayout(undefined, { observed, open: [] }, NOBODY)
const known = begun(keys(5, 'own', 1_000))

describe('one event with hundreds of unusual keys', () => {
  test('does not move a dataset to a larger table or use up its slots', () => {
    expect(known.classes).toEqual(['s'])
    expect(growLayout(known, { observed: keys(500, 'strange'), open: [] }, NOBODY)).toBe(known)
    const after = growLayout(known, { observed: [...keys(500, 'strange'), ...keys(3, 'new', 100)], open: [] }, NOBODY)
    expect([after.classes, [...after.map.slots.keys()].filter((path) => !path.startsWith('own'))]).toEqual([
      ['s'],
      ['new0', 'new1', 'new2'],
    ])
  })

  test('does not start a dataset in the largest table', () => {
    expect(begun(keys(500, 'strange')).classes).toEqual(['m'])
    expect(begun(keys(90, 'wide', 50)).classes).toEqual(['l'])
  })
})

test('a few new keys get free slots at once', () => {
  const { map, classes } = growLayout(known, { observed: keys(4, 'new'), open: [] }, NOBODY)
  expect([classes, map.slots.size, map.version]).toEqual([['s'], 9, known.map.version + 1])
})

test('recurring keys move a dataset to a larger table, and no key changes its slot', () => {
  const grown = growLayout(known, { observed: [...keys(60, 'common', 24), ...keys(200, 'strange')], open: [] }, NOBODY)
  expect(grown.classes).toEqual(['s', 'l'])
  expect(keys(60, 'common').every(({ path }) => grown.map.slots.has(path))).toBe(true)
  expect([...grown.map.slots.keys()].filter((path) => path.startsWith('strange'))).toEqual([])
  for (const [path, slot] of known.map.slots) expect(grown.map.slots.get(path)).toBe(slot)
})

describe('keys without a slot are remembered', () => {
  test('over many small posts, until enough events had them', () => {
    const strange = new OverflowKeys()
    const one = keys(60, 'common')
    let posts = 0
    while (growLayout(known, { observed: strange.withMore(1, one), open: [] }, NOBODY) === known) {
      strange.note(1, one)
      posts += 1
      expect(posts).toBeLessThan(100)
    }
    expect(posts).toBe(23)
  })

  test('and do not enlarge a table when few events have them, though they use free slots', () => {
    const strange = new OverflowKeys()
    for (let post = 0; post < 200; post += 1) {
      const rare = keys(60, 'rare', 2)
      expect(growLayout(known, { observed: strange.withMore(1_000, rare), open: [] }, NOBODY)).toBe(known)
      strange.note(1_000, rare)
    }
    expect(growLayout(known, { observed: strange.withMore(1_000, keys(3, 'rare')), open: [] }, NOBODY).map.slots.size).toBe(8)
  })

  test('within bounded memory, even when a sender keeps sending new keys', () => {
    const strange = new OverflowKeys()
    for (let post = 0; post < 50; post += 1) strange.note(1, keys(1_000, `post ${post} `))
    const [one] = strange.withMore(1, [seen('post 0 1')])
    expect(one?.count ?? 1).toBe(1)
  })
})

test('a key in an open map gets a slot only when a quarter of the events have it, and open maps are never forgotten', () => {
  const label = (name: string, count: number, isScarce: boolean): Observation => ({ path: `labels.${name}`, count, distinct: 3, isScarce })
  const observed = [...keys(3, 'plain', 900), label('app', 900, false), label('odd', 40, true), label('new', 3, false)]
  const opened = growLayout(undefined, { observed, open: ['labels.'] }, NOBODY)
  expect([...opened.map.slots.keys()].sort()).toEqual(['labels.app', 'plain0', 'plain1', 'plain2'])
  expect([...opened.map.open]).toEqual(['labels.'])
  expect(growLayout(opened, { observed: [label('odd', 40, true)], open: ['labels.'] }, NOBODY)).toBe(opened)
  const wider = growLayout(opened, { observed: [], open: ['flags.'] }, NOBODY)
  expect([wider.map.version, [...wider.map.open], wider.map.slots]).toEqual([2, ['labels.', 'flags.'], opened.map.slots])
})
