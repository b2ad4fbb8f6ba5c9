import type { Insight } from '@dendro/api'

/** Simulated datasets with the rhythms of real ones, and causes that are planted in them. */
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const HISTORY_DAYS = 28
export const WATCHED_DAYS = 7
/** A Monday. */
export const START_MS = Date.UTC(2026, 0, 5)
export const WATCHED_MS = START_MS + HISTORY_DAYS * DAY_MS
export const END_MS = WATCHED_MS + WATCHED_DAYS * DAY_MS

export type Rng = () => number

/** A seeded generator, so that every run has the same data. */
export function seeded(seed: number): Rng {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const normal = (rng: Rng): number => Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng())
/** A number of events around a mean, noisier than chance alone. */
const around = (rng: Rng, mean: number, noise: number): number =>
  Math.max(0, Math.round(mean * (1 + noise * normal(rng)) + Math.sqrt(mean) * normal(rng)))

/** The expected share of the peak volume in an hour. */
type Rhythm = { readonly name: string; share(hourMs: number, rng: Rng): number }

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) % 24
const weekdayOf = (ms: number): number => Math.floor((ms - START_MS) / DAY_MS) % 7
const byDay = (ms: number): number => 0.55 - 0.45 * Math.cos((2 * Math.PI * (hourOf(ms) - 3)) / 24)

export const rhythms: readonly Rhythm[] = [
  { name: 'steady', share: () => 1 },
  { name: 'day and night', share: byDay },
  { name: 'weekdays', share: (ms) => byDay(ms) * (weekdayOf(ms) < 5 ? 1 : 0.25) },
  { name: 'office hours', share: (ms) => (weekdayOf(ms) < 5 && hourOf(ms) >= 8 && hourOf(ms) < 18 ? 1 : 0) },
  { name: 'nightly batch', share: (ms, rng) => (hourOf(ms) === 2 || (hourOf(ms) === 3 && rng() < 0.5) ? 1 : 0.02) },
  { name: 'weekly batch', share: (ms) => (weekdayOf(ms) === 6 && hourOf(ms) === 4 ? 1 : 0.03) },
  { name: 'bursts', share: (_, rng) => (rng() < 0.08 ? 0.3 + rng() : 0.05) },
  { name: 'growing', share: (ms) => byDay(ms) * 1.02 ** ((ms - START_MS) / DAY_MS) },
  { name: 'sparse', share: (_, rng) => (rng() < 0.3 ? 0.01 : 0) },
]

export type Cause = {
  readonly name: Insight['name']
  readonly dataset: number
  readonly fromMs: number
  readonly toMs: number
  readonly factor: number
}

/** The causes of one kind are planted in datasets of these rhythms. */
const plantable: readonly (readonly [Insight['name'], readonly string[]])[] = [
  ['volume_jumped', ['steady', 'day and night', 'weekdays', 'growing']],
  ['errors_jumped', ['steady', 'day and night', 'weekdays', 'growing']],
  ['cost_jumped', ['steady', 'day and night', 'weekdays', 'growing']],
  ['sender_silent', ['steady', 'day and night', 'weekdays', 'nightly batch']],
  ['new_patterns', ['steady', 'day and night', 'weekdays', 'growing']],
  ['patterns_vanished', ['steady', 'day and night', 'growing']],
  ['fields_exploded', ['steady', 'weekdays', 'office hours', 'bursts']],
  ['never_queried', ['steady', 'day and night', 'weekdays', 'growing']],
  ['debug_logs_received', ['steady', 'day and night', 'growing']],
]

export const DATASETS = 144
const PER_KIND = 5
export const rhythmOf = (dataset: number): Rhythm => rhythms[dataset % rhythms.length] as Rhythm

/** Plants causes of every kind, each in a dataset of its own. */
export function plantCauses(rng: Rng): readonly Cause[] {
  const free = new Set(Array.from({ length: DATASETS }, (_, dataset) => dataset))
  return plantable.flatMap(([name, fitting]) =>
    Array.from({ length: PER_KIND }, (): Cause => {
      const possible = [...free].filter((dataset) => fitting.includes(rhythmOf(dataset).name))
      const dataset = possible[Math.floor(rng() * possible.length)]
      if (dataset === undefined) throw new Error(`no dataset is left for ${name}`)
      free.delete(dataset)
      const fromMs = WATCHED_MS + Math.floor(rng() * 4 * 24) * HOUR_MS
      const lasting = ['sender_silent', 'patterns_vanished', 'fields_exploded', 'debug_logs_received', 'new_patterns']
      const hours = lasting.includes(name) ? WATCHED_DAYS * 24 : 1 + Math.floor(rng() * 5)
      return { name, dataset, fromMs, toMs: fromMs + hours * HOUR_MS, factor: 4 + rng() * 8 }
    }),
  )
}

export type PatternCount = { readonly pattern: string; readonly events: number }
export type SimulatedHour = {
  readonly dataset: number
  readonly events: number
  readonly bytes: number
  readonly errors: number
  readonly debugs: number
  readonly patterns: readonly PatternCount[]
}

const PATTERNS = 8
/** How often each pattern of a dataset occurs: some always, some once in a while, one on one day of the week. */
const occurs = (index: number, hourMs: number, rng: Rng): boolean =>
  index < 4 || (index === 7 ? weekdayOf(hourMs) === 2 : rng() < 0.5 / (index - 3))
/** The pattern that vanishes where one is planted. */
const VANISHING = 3

/** The counts of a dataset in an hour. */
export function simulateHour(dataset: number, hourMs: number, rng: Rng, causes: readonly Cause[]): SimulatedHour {
  const planted = (name: Insight['name']): Cause | undefined =>
    causes.find((cause) => cause.name === name && cause.dataset === dataset && hourMs >= cause.fromMs && hourMs < cause.toMs)
  const peak = 400 * 2 ** (dataset % 7)
  const volume = around(rng, peak * rhythmOf(dataset).share(hourMs, rng), 0.15)
  const events = planted('sender_silent')
    ? 0
    : Math.round(volume * (planted('volume_jumped')?.factor ?? 1) + (planted('volume_jumped') ? 1_500 : 0))
  const jump = planted('errors_jumped')
  const errors = Math.min(events, around(rng, events * 0.01, 0.4) + (jump ? Math.round(events * 0.04 * jump.factor) + 60 : 0))
  const costs = planted('cost_jumped')
  const bytes = Math.round(events * 300 * (costs?.factor ?? 1)) + (costs ? 12 * 2 ** 20 : 0)
  const debugs = Math.round(events * (planted('debug_logs_received') ? 0.7 : 0.1))
  const patterns = Array.from({ length: PATTERNS }, (_, index) => ({
    pattern: (dataset * 100 + index + 1).toString(16).padStart(16, '0'),
    events:
      occurs(index, hourMs, rng) && !(index === VANISHING && planted('patterns_vanished')) ? Math.max(1, Math.round(events / PATTERNS)) : 0,
  }))
  if (planted('new_patterns'))
    patterns.push({ pattern: (dataset * 100 + 99).toString(16).padStart(16, '0'), events: 10 + Math.floor(rng() * 40) })
  return { dataset, events, bytes, errors, debugs, patterns: events === 0 ? [] : patterns.filter((one) => one.events > 0) }
}
