import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { giveBackToWindow, removeWindows, takeFromWindow } from './counters.ts'
import { makeTestDatabase, type TestDatabase } from './database.fixture.ts'
import type { Meta } from './meta.ts'

let database: TestDatabase
let here: Meta
let there: Meta

beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  here = await database.open()
  there = await database.open()
})
afterAll(() => database.drop())

const window = (windowStartMs = 1_000) => ({ subject: `org ${randomUUID()}`, windowStartMs })

test('takes are granted until the limit and never beyond it', async () => {
  const w = window()
  const take = (count: number) => takeFromWindow(here, { ...w, take: count, limit: 10 })
  expect(await take(4)).toEqual({ granted: 4, used: 4 })
  expect(await take(4)).toEqual({ granted: 4, used: 8 })
  expect(await take(4)).toEqual({ granted: 2, used: 10 })
  expect(await take(4)).toEqual({ granted: 0, used: 10 })
})

test('a first take beyond the limit is cut, and a lowered limit grants nothing more', async () => {
  const w = window()
  expect(await takeFromWindow(here, { ...w, take: 50, limit: 10 })).toEqual({ granted: 10, used: 10 })
  expect(await takeFromWindow(here, { ...w, take: 1, limit: 5 })).toEqual({ granted: 0, used: 10 })
})

test('many that take at once through two processes are granted the limit together, exactly', async () => {
  const w = window()
  const takes = Array.from({ length: 60 }, (_, n) => takeFromWindow(n % 2 ? here : there, { ...w, take: 3, limit: 100 }))
  const granted = (await Promise.all(takes)).reduce((sum, took) => sum + took.granted, 0)
  expect(granted).toBe(100)
})

test('returned units can be taken again, but never more than were taken', async () => {
  const w = window()
  await takeFromWindow(here, { ...w, take: 10, limit: 10 })
  await giveBackToWindow(there, { ...w, count: 4 })
  expect(await takeFromWindow(here, { ...w, take: 10, limit: 10 })).toEqual({ granted: 4, used: 10 })
  await giveBackToWindow(there, { ...w, count: 1_000 })
  expect(await takeFromWindow(here, { ...w, take: 20, limit: 10 })).toEqual({ granted: 10, used: 10 })
})

test('subjects and windows do not share, and old windows can be removed', async () => {
  const [old, fresh] = [window(1_000), window(2_000)]
  for (const w of [old, fresh]) expect(await takeFromWindow(here, { ...w, take: 1, limit: 1 })).toEqual({ granted: 1, used: 1 })
  expect(await removeWindows(here, 2_000)).toBeGreaterThan(0)
  expect((await takeFromWindow(here, { ...old, take: 1, limit: 1 })).granted).toBe(1)
  expect((await takeFromWindow(here, { ...fresh, take: 1, limit: 1 })).granted).toBe(0)
})
