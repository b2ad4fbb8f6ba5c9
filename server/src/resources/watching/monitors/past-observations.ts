import type { Actor } from '../../../http/actor.ts'
import type { Budget } from '../../../reading/question.ts'
import type { World } from '../../../world.ts'
import type { PlannedQuery } from '../../queries/timeseries/timeseries.ts'
import { asksFor, type Definition } from './definition.ts'
import type { Cell, Cells } from './judge.ts'
import { CELLS_PER_WINDOW, judge, patternSight, type Reading, type Sight, valuesIn, windowsOf } from './observation.ts'
import { readSeries, sourcesOf } from './reading-series.ts'

const MINUTE_MS = 60_000
/** FOLD_MAX is into how many windows a step may lie at most: looks further apart keep long windows from being added up too often. */
const FOLD_MAX = 300
const HEAVY_FOLD_MAX = 12
/** light functions cost next to nothing to put together from parts. */
const light: ReadonlySet<string> = new Set(['count', 'sum', 'avg', 'min', 'max', 'rate'])

/** stepOf is how far looks lie apart: a minute, where the length of the window and what is asked do not make that too dear. */
export function stepOf({ planned, windowMs, kind, groups }: Definition): number {
  if (kind.kind === 'anomaly' || kind.kind === 'patterns') return windowMs
  if (planned.queries.some(({ reduceTo }) => reduceTo)) return windowMs / CELLS_PER_WINDOW
  const foldMax = groups.length === 0 && planned.queries.every(({ call }) => light.has(call.call.name)) ? FOLD_MAX : HEAVY_FOLD_MAX
  const backMs = kind.kind === 'change' ? kind.backMs : 0
  for (let stepMs = MINUTE_MS; stepMs < windowMs; stepMs += MINUTE_MS) {
    if (windowMs % stepMs === 0 && backMs % stepMs === 0 && windowMs / stepMs <= foldMax) return stepMs
  }
  return backMs % windowMs === 0 ? windowMs : MINUTE_MS
}

/** A Range is looks that lie a step apart, the last one at toMs. */
export type Range = { toMs: number; looks: number; stepMs: number }

/** sightsOver reads each query once over the whole range, and gives what each look sees. */
export async function sightsOver(
  world: World,
  actor: Actor,
  definition: Definition,
  { toMs, looks, stepMs }: Range,
  signal: AbortSignal,
  budget?: Budget,
) {
  const { kind, planned, windowMs } = definition
  // How many steps before a look the window lies that it is compared with first.
  const back = kind.kind === 'change' ? kind.backMs / stepMs : kind.kind === 'anomaly' ? kind.windows : 0
  const before = kind.kind === 'patterns' ? Math.ceil(kind.baselineMs / stepMs) : back
  const fromMs = toMs - windowMs - (looks - 1 + before) * stepMs
  const windows = await Promise.all(
    planned.queries.map((query) => windowsOver(world, actor, { definition, query, fromMs, toMs, stepMs, budget }, signal)),
  )
  if (kind.kind === 'patterns') {
    const trail = new Trail()
    return (at: number): Sight => {
      const now = windows[0]?.[at + before]
      return patternSight(now, trail.upTo(windows[0] ?? [], at, at + before), kind.want)
    }
  }
  const valuesAt = remembering((at: number) => valuesIn(definition, windows, at))
  return (at: number): Sight => {
    const count = kind.kind === 'anomaly' ? kind.windows : kind.kind === 'change' ? 1 : 0
    const earlier = Array.from({ length: count }, (_, index) => valuesAt(at + index))
    return judge(definition, valuesAt(at + back), earlier)
  }
}

type Over = { definition: Definition; query: PlannedQuery; fromMs: number; toMs: number; stepMs: number; budget: Budget | undefined }

async function windowsOver(
  world: World,
  actor: Actor,
  { definition, query, fromMs, toMs, stepMs, budget }: Over,
  signal: AbortSignal,
): Promise<Reading> {
  const { kind, windowMs } = definition
  const isUsage = kind.kind === 'usage'
  const cellMs = query.reduceTo ? windowMs / CELLS_PER_WINDOW : stepMs
  // Usage comes in steps that do not overlap, and is added up here.
  const isWhole = !query.reduceTo && !isUsage
  const series = {
    query,
    groups: asksFor(kind, query.groups),
    isUsage,
    fromMs,
    toMs,
    stepMs: cellMs,
    windowMs: isWhole ? windowMs : cellMs,
  }
  const datasets = await sourcesOf(world, actor, series)
  const [reading = []] = await readSeries(world, actor, [series], datasets, signal, budget)
  if (query.reduceTo) return windowsOf(query, reading, Math.round(stepMs / cellMs))
  return isUsage ? added(reading, Math.round(windowMs / stepMs)) : reading
}

/** added sums up so many steps for each window. */
function added(steps: Reading, fold: number): Reading {
  return Array.from({ length: Math.max(0, steps.length - fold + 1) }, (_, index) => {
    const cells = new Map<string, Cell>()
    for (const step of steps.slice(index, index + fold)) {
      for (const [group, { count, value }] of step) {
        const known = cells.get(group)
        cells.set(group, { count: (known?.count ?? 0) + count, value: (known?.value ?? 0) + (value ?? 0) })
      }
    }
    return cells
  })
}

/** A Trail is what the windows of a stretch have between them, kept up while the stretch moves on. */
class Trail {
  readonly #cells = new Map<string, Cell>()
  #from = 0
  #to = 0

  upTo(windows: Reading, from: number, to: number): Cells {
    for (; this.#to < to; this.#to += 1) this.#add(windows[this.#to], 1)
    for (; this.#from < from; this.#from += 1) this.#add(windows[this.#from], -1)
    return this.#cells
  }

  #add(window: Cells | undefined, sign: 1 | -1): void {
    for (const [pattern, { count }] of window ?? []) {
      const left = (this.#cells.get(pattern)?.count ?? 0) + sign * count
      if (left === 0) this.#cells.delete(pattern)
      else this.#cells.set(pattern, { count: left, value: null })
    }
  }
}

function remembering<T>(make: (at: number) => T): (at: number) => T {
  const known = new Map<number, T>()
  return (at) => {
    const value = known.get(at) ?? make(at)
    known.set(at, value)
    return value
  }
}
