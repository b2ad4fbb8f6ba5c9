import { createHash } from 'node:crypto'
import type { SpendPrice } from '@dendro/api'
import type { EventStore } from '../../../events/store/events.ts'
import type { Actor } from '../../../http/actor.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import type { DatasetRow } from '../datasets/datasets.ts'
import { monthOf } from '../limits/limits.ts'
import { type Forecast, forecastMonth } from './forecast.ts'
import { BYTES_PER_GB, costOf, type PricedBytes } from './price.ts'
import { spendSettings } from './settings.ts'
import { readSpent, type SpendWorld } from './spent.ts'

/** What a monitor watches: the month so far or its forecast, in bytes or in the currency of the price. */
export type SpendMeasure = { readonly of: 'MONTH' | 'FORECAST'; readonly unit: 'BYTES' | 'MONEY' }

/** The watched value, undefined where there is none, and what it rests on, in words. */
export type WatchedSpend = { readonly value: number | undefined; readonly evidence: string }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HISTORY_DAYS = 56
const NAMED_MAX = 3

type Watch = { readonly datasets: readonly DatasetRow[]; readonly timesMs: readonly number[]; readonly measure: SpendMeasure }

/** The value at each of some ascending times. Whatever their number, it reads counts of full days once an hour, and counts of hours from the first time on. */
export async function watchSpend(world: SpendWorld, actor: Actor, { datasets, timesMs, measure }: Watch): Promise<WatchedSpend[]> {
  const { price } = await spendSettings(world, actor.orgId)
  const [firstMs = 0] = timesMs
  const hoursMs = dayBefore(firstMs)
  const daysMs = Math.max(0, hoursMs - HISTORY_DAYS * DAY_MS)
  const [days, hours] = await Promise.all([
    dailySums(world, actor, datasets, { fromMs: daysMs, toMs: hoursMs }),
    readSums(world, actor, datasets, { fromMs: hoursMs, toMs: Math.ceil((timesMs.at(-1) ?? 0) / HOUR_MS) * HOUR_MS }, HOUR_MS),
  ])
  const names = new Map(datasets.map(({ id, collection, dataset }) => [id, `${collection}.${dataset}`]))
  return timesMs.map((atMs) => watchedAt(atMs, { days, hours, daysMs, hoursMs, price, measure, names }))
}

/** The day of the moment before a time: at midnight the day that ends counts. */
const dayBefore = (atMs: number): number => Math.floor((atMs - 1) / DAY_MS) * DAY_MS

/** Sums of equal parts of a range by dataset, those of the largest datasets and one for the others. */
type Sums = ReadonlyMap<string, readonly PricedBytes[]>

type Known = {
  days: Sums
  hours: Sums
  daysMs: number
  hoursMs: number
  price: SpendPrice | undefined
  measure: SpendMeasure
  names: ReadonlyMap<string, string>
}

function watchedAt(atMs: number, { days, hours, daysMs, hoursMs, price, measure, names }: Known): WatchedSpend {
  if (measure.unit === 'MONEY' && !price) return { value: undefined, evidence: 'The organization has no price.' }
  const amountOf = (priced: PricedBytes): number => (measure.unit === 'MONEY' && price ? costOf(priced, price) : priced.bytes)
  const todayMs = dayBefore(atMs)
  const { startMs, endMs } = monthOf(todayMs)
  const amounts = new Map<number, number>()
  const ofMonth = new Map<string, number>()
  const add = (name: string, startOfMs: number, priced: PricedBytes) => {
    if (startOfMs >= atMs) return
    const dayMs = Math.floor(startOfMs / DAY_MS) * DAY_MS
    const amount = amountOf(priced)
    amounts.set(dayMs, (amounts.get(dayMs) ?? 0) + amount)
    if (dayMs >= startMs) ofMonth.set(name, (ofMonth.get(name) ?? 0) + amount)
  }
  for (const [sums, fromMs, stepMs] of [
    [days, daysMs, DAY_MS],
    [hours, hoursMs, HOUR_MS],
  ] as const) {
    for (const [name, parts] of sums) for (const [at, part] of parts.entries()) add(name, fromMs + at * stepMs, part)
  }
  const spent = [...ofMonth.values()].reduce((sum, amount) => sum + amount, 0)
  const history = Array.from({ length: HISTORY_DAYS }, (_, back) => amounts.get(todayMs - (HISTORY_DAYS - back) * DAY_MS) ?? 0)
  const forecast = forecastMonth({
    history,
    today: todayMs / DAY_MS,
    elapsed: Math.min(1, (atMs - todayMs) / DAY_MS),
    spent,
    left: (endMs - todayMs) / DAY_MS - 1,
  })?.month
  const shown = (amount: number): string => (measure.unit === 'MONEY' ? `${amount.toFixed(2)} ${price?.currency}` : gigabytes(amount))
  return {
    value: measure.of === 'MONTH' ? spent : forecast?.expected,
    evidence: [soFar(shown, spent, forecast), ...mostOf(ofMonth, spent, names)].join(' '),
  }
}

function soFar(shown: (amount: number) => string, spent: number, forecast: Forecast | undefined): string {
  const expected = forecast
    ? `${shown(forecast.expected)} are expected, between ${shown(forecast.low)} and ${shown(forecast.high)}`
    : 'there is no forecast before three full days of data'
  return `This month has ${shown(spent)} so far; ${expected}.`
}

function mostOf(amounts: ReadonlyMap<string, number>, whole: number, names: ReadonlyMap<string, string>): string[] {
  const largest = [...amounts].filter(([id, amount]) => names.has(id) && amount > 0).sort(([, a], [, b]) => b - a)
  const named = largest.slice(0, NAMED_MAX).map(([id, amount]) => `${names.get(id)} (${((100 * amount) / whole).toFixed(0)} %)`)
  return named.length === 0 ? [] : [`Most of it: ${named.join(', ')}.`]
}

const gigabytes = (bytes: number): string => `${Number((bytes / BYTES_PER_GB).toPrecision(3))} GB`

/** The sums of full days that are over, kept until the next hour: they change only where a process died. */
const keptSums = new WeakMap<EventStore, Map<string, Promise<Sums>>>()
const KEPT_MAX = 500

function dailySums(world: SpendWorld, actor: Actor, datasets: readonly DatasetRow[], bounds: TimeBounds): Promise<Sums> {
  const kept = keptSums.get(world.events) ?? new Map<string, Promise<Sums>>()
  keptSums.set(world.events, kept)
  const ids = createHash('sha256')
  for (const { id, retention } of datasets) ids.update(`${id} ${retention} `)
  const hour = Math.floor(world.clock.nowMs() / HOUR_MS)
  const key = [actor.orgNumber, actor.identity.type, actor.identity.id, hour, bounds.fromMs, bounds.toMs, ids.digest('hex')].join(' ')
  const known = kept.get(key)
  if (known) return known
  if (kept.size >= KEPT_MAX) kept.clear()
  const reading = readSums(world, actor, datasets, bounds, DAY_MS)
  kept.set(key, reading)
  reading.catch(() => kept.delete(key))
  return reading
}

async function readSums(
  world: SpendWorld,
  actor: Actor,
  datasets: readonly DatasetRow[],
  bounds: TimeBounds,
  stepMs: number,
): Promise<Sums> {
  const slices = Math.round((bounds.toMs - bounds.fromMs) / stepMs)
  if (slices <= 0 || datasets.length === 0) return new Map()
  const from = datasets.map(({ id }) => id)
  const { rows } = await readSpent(world, actor, { bounds, slices, by: 'dataset', groupsMax: NAMED_MAX, from })
  const sums = new Map<string, PricedBytes[]>()
  for (const { key, slice, bytes, byteDays } of rows) {
    const parts = sums.get(key) ?? Array.from({ length: slices }, () => ({ bytes: 0, byteDays: 0 }))
    parts[slice] = { bytes, byteDays }
    sums.set(key, parts)
  }
  return sums
}
