import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ChangedRange, type EventChange, openEventChanges } from './event-changes.ts'

const HOUR_MS = 3_600_000
const FROM_MS = Date.UTC(2026, 2, 1)
const EVER: ChangedRange = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }
const hour = (number: number, count = 1): ChangedRange => ({
  fromMs: FROM_MS + number * HOUR_MS,
  toMs: FROM_MS + (number + count) * HOUR_MS,
})

test('a running change affects its range only, and what was read before it ended', () => {
  const changes = openEventChanges()
  const before = changes.now()
  const change = changes.begin(['a'], hour(5))
  expect(changes.areUnchanged(['a'], hour(5), before)).toBe(false)
  expect(changes.areUnchanged(['a'], hour(4), before)).toBe(true)
  expect(changes.areUnchanged(['b'], hour(5), before)).toBe(true)
  const during = changes.now()
  change.end()
  change.end()
  expect(changes.areUnchanged(['a'], hour(5), during)).toBe(false)
  expect(changes.areUnchanged(['a'], hour(6), during)).toBe(true)
  expect(changes.areUnchanged(['b', 'a'], hour(0, 24), during)).toBe(false)
  expect(changes.areUnchanged(['a'], hour(5), changes.now())).toBe(true)
})

test('a change of unknown events affects every dataset', () => {
  const changes = openEventChanges()
  changes.begin(['a'], hour(1)).end()
  const before = changes.now()
  const change = changes.beginAnywhere()
  expect(changes.areUnchanged(['b'], hour(1), before)).toBe(false)
  change.end()
  for (const logId of ['a', 'b']) expect(changes.areUnchanged([logId], hour(1), before)).toBe(false)
  for (const logId of ['a', 'b']) expect(changes.areUnchanged([logId], hour(1), changes.now())).toBe(true)
})

test('a deletion of old events leaves newer ones unchanged', () => {
  const changes = openEventChanges()
  changes.begin(['a'], { fromMs: Number.NEGATIVE_INFINITY, toMs: FROM_MS }).end()
  expect(changes.areUnchanged(['a'], hour(0), 0)).toBe(true)
  expect(changes.areUnchanged(['a'], hour(-1), 0)).toBe(false)
})

test('many changes are noted coarsely, never too little', () => {
  const changes = openEventChanges()
  const before = changes.now()
  for (let minute = 0; minute < 20_000; minute += 1) {
    const fromMs = FROM_MS + minute * 60_000
    changes.begin(['a'], { fromMs, toMs: fromMs + 60_000 }).end()
  }
  for (let number = 0; number < 333; number += 1) expect(changes.areUnchanged(['a'], hour(number), before)).toBe(false)
  expect(changes.areUnchanged(['a'], hour(400), before)).toBe(true)
  for (let dataset = 0; dataset < 20_010; dataset += 1) changes.begin([`many ${dataset}`], hour(1)).end()
  expect(changes.areUnchanged(['many 0'], hour(1), before)).toBe(false)
  expect(changes.areUnchanged(['a'], hour(3), before)).toBe(false)
})

test('events that are unchanged by the record of all changes, and no others, count as unchanged within a day', () => {
  const range = fc.oneof(
    fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 1, max: 30 })).map(([first, count]) => hour(first / 4, count / 4)),
    fc.constant(EVER),
    fc.integer({ min: 0, max: 3 }).map((days) => ({ fromMs: Number.NEGATIVE_INFINITY, toMs: FROM_MS + days * 24 * HOUR_MS })),
  )
  const step = fc.record({ dataset: fc.constantFrom('a', 'b'), range, ends: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), range, fc.nat(40), (steps, read, readAt) => {
      const changes = openEventChanges()
      const open: { change: EventChange; dataset: string; range: ChangedRange }[] = []
      const ended: { dataset: string; range: ChangedRange; at: number }[] = []
      let since = 0
      for (const [index, { dataset, range: changed, ends }] of steps.entries()) {
        if (index === readAt) since = changes.now()
        open.push({ change: changes.begin([dataset], changed), dataset, range: changed })
        if (!ends) continue
        const over = open.shift()
        over?.change.end()
        if (over) ended.push({ dataset: over.dataset, range: over.range, at: changes.now() })
      }
      const overlaps = (one: ChangedRange) => one.fromMs < read.toMs && read.fromMs < one.toMs
      const isChanged = [...open, ...ended.filter(({ at }) => at > since)].some((one) => one.dataset === 'a' && overlaps(one.range))
      // Never unchanged although something changed.
      if (isChanged) expect(changes.areUnchanged(['a'], read, since)).toBe(false)
      // Nothing at all happened to the dataset.
      if (![...open, ...ended].some(({ dataset }) => dataset === 'a')) expect(changes.areUnchanged(['a'], read, since)).toBe(true)
    }),
  )
})
