import type { MetricQuery } from '@dendro/api'
import { messageKeys } from '../../../events/shred/event.ts'
import type { Occasion } from '../../../monitors/occasion.ts'
import type { Call } from '../../../query/tree.ts'
import type { Bounds, FoundEvent, FoundGroup, Question } from '../../../reading/question.ts'
import { readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { templateFor } from '../../patterns/template.ts'
import { questionOn } from '../occasion-question.ts'
import { candidateKeys } from './candidates.ts'
import { paceSurprise, shareSurprise, standingOut } from './surprise.ts'

export type FoundPattern = {
  readonly template: string
  /** example is the latest line of it. */
  readonly example: string
  readonly now: number
  readonly before: number
  readonly firstMs: number | undefined
  readonly lastMs: number | undefined
  readonly surprise: number
}
/** A FoundValue is a value of a key; null stands for events that lack it. */
export type FoundValue = {
  readonly key: string
  readonly value: string | null
  readonly now: number
  readonly before: number
  readonly surprise: number
}

/** Facts are what changed in the window of an alert against the windows before it. */
export type Facts = {
  readonly window: Bounds
  /** windows before it are the baseline, each as long. */
  readonly windows: number
  readonly now: number
  readonly before: number
  readonly patterns: readonly FoundPattern[]
  readonly values: readonly FoundValue[]
  /** keys are those whose values were compared. */
  readonly keys: readonly string[]
}

const DAY_MS = 86_400_000
const WINDOWS_MAX = 6
const PATTERNS_MAX = 300
const VALUES_MAX = 100
const SHOWN_MAX = 8
const SAMPLE_EVENTS = 300
const AT_ONCE = 3
const COUNT: Call = { name: 'count' }
const TIMES: readonly Call[] = [
  { name: 'min', key: '@time' },
  { name: 'max', key: '@time' },
]
const LAST_TEXTS: readonly Call[] = [...messageKeys, '@raw'].map((key): Call => ({ name: 'last', key }))

export type Reader = Pick<World, 'meta' | 'events' | 'deployment' | 'clock'>

/** factsOf compares the events that the monitor counts in its window with those of up to six windows before, over a day at most. */
export async function factsOf(world: Reader, orgId: string, occasion: Occasion, signal: AbortSignal): Promise<Facts | undefined> {
  const { fromMs, toMs, monitor, groups, troubledGroups } = occasion
  const [query] = monitor.queries
  if (!query) return undefined
  const windowMs = toMs - fromMs
  const windows = Math.min(WINDOWS_MAX, Math.max(1, Math.floor(DAY_MS / windowMs)))
  // Of several groups at once the report is about all of them: what they have in common shows by itself.
  const asked = { orgId, monitorId: monitor.id, query: plain(query), groups: troubledGroups.length > 1 ? {} : groups }
  const on = (bounds: Bounds): Promise<Question | undefined> => questionOn(world, asked, bounds, signal)
  const [whole, window, baseline] = await Promise.all([
    on({ fromMs: fromMs - windows * windowMs, toMs }),
    on({ fromMs, toMs }),
    on({ fromMs: fromMs - windows * windowMs, toMs: fromMs }),
  ])
  if (!whole || !window || !baseline) return undefined
  const sampled = await Promise.all([window, baseline].map((question) => sample(world, question)))
  const keys = candidateKeys(sampled[0] ?? [], sampled[1] ?? [])
  const { now, before, patterns } = await patternsIn(world, whole, { windows, windowMs })
  const values = await valuesIn(world, whole, keys, { windows, now, before })
  return { window: { fromMs, toMs }, windows, now, before, patterns, values, keys }
}

/** plain leaves out what only the value of the monitor needs. */
const plain = ({ name, select, from, from_expr, where }: MetricQuery): MetricQuery => ({
  name,
  select,
  where,
  ...(from ? { from } : {}),
  ...(from_expr === undefined ? {} : { from_expr }),
})

async function sample({ events }: Reader, question: Question): Promise<readonly FoundEvent[]> {
  return (await readEvents(events, question, { limit: SAMPLE_EVENTS, newestFirst: true, keys: 'all', withRaw: false })).events
}

type Shape = { windows: number; windowMs: number }

async function patternsIn({ events }: Reader, question: Question, { windows, windowMs }: Shape) {
  const wish = { calls: [COUNT, ...TIMES, ...LAST_TEXTS], groups: ['@pattern'], slices: windows + 1, limit: PATTERNS_MAX }
  const found = await readStats(events, question, wish)
  const { now, before } = counts(found.slices)
  const all = found.groups.map((group): FoundPattern => {
    const count = counts(group.slices)
    const [, first, last, ...texts] = group.whole.stats.map(({ value }) => value)
    const surprise = paceSurprise({ ...count, nowMs: windowMs, beforeMs: windows * windowMs })
    const example = String(texts.at(-1) ?? '')
    return { template: templateIn(group, texts), example, ...count, firstMs: numberIn(first), lastMs: numberIn(last), surprise }
  })
  return { now, before, patterns: standingOut(all, all.length).slice(0, SHOWN_MAX) }
}

function templateIn({ values: [id] }: FoundGroup, texts: readonly (number | string | null | undefined)[]): string {
  const [line, ...messages] = texts.toReversed().map((text) => (typeof text === 'string' ? text : undefined))
  return templateFor(
    id ?? '',
    messages.reverse().find((text) => text !== undefined),
    line ?? '',
  )
}

const numberIn = (value: number | string | null | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

/** counts adds up the slices before the last, which is the window. */
function counts(slices: readonly { readonly count: number }[]): { now: number; before: number } {
  const now = slices.at(-1)?.count ?? 0
  return { now, before: slices.slice(0, -1).reduce((sum, { count }) => sum + count, 0) }
}

type Totals = { windows: number; now: number; before: number }

/** valuesIn compares the shares of the values of each key; without events before there is nothing to compare shares with. */
async function valuesIn(world: Reader, question: Question, keys: readonly string[], totals: Totals): Promise<FoundValue[]> {
  if (totals.now === 0 || totals.before === 0) return []
  const all: FoundValue[] = []
  const waiting = [...keys]
  const work = async (): Promise<void> => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) all.push(...(await valuesOf(world, question, key, totals)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return standingOut(all, all.length).slice(0, SHOWN_MAX)
}

async function valuesOf({ events }: Reader, question: Question, key: string, totals: Totals): Promise<FoundValue[]> {
  const found = await readStats(events, question, { calls: [COUNT], groups: [key], slices: totals.windows + 1, limit: VALUES_MAX })
  return found.groups.map(({ values: [value], slices }): FoundValue => {
    const count = counts(slices)
    const surprise = shareSurprise({ ...count, nowOf: totals.now, beforeOf: totals.before })
    return { key, value: value ?? null, ...count, surprise }
  })
}
