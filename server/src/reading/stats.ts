import type { EventStore } from '../events/store/events.ts'
import { badRequest } from '../kernel/errors.ts'
import { sliceStartMs } from '../query/slices.ts'
import type { BinaryRows } from './binary-rows.ts'
import { type Branch, branchesOf, keysIn } from './branches.ts'
import { isExactly, nobody, readMeasured } from './measures.ts'
import { withStrays } from './overflow.ts'
import type { FoundGroup, FoundStats, Measured, Question, StatsWish } from './question.ts'
import { type Asking, costOf, run, startAsking } from './run.ts'
import { withShapes } from './shapes.ts'
import { GROUP_JOINT, GROUPS_MAX, type StatsAsk, statsStatement } from './stats-statement.ts'

/** CELLS_MAX bounds groups times slices. */
const CELLS_MAX = 1_000_000

/** readStats measures the events that a question means: as a whole, by slices of time, and by groups, of which the largest come back. */
export async function readStats(store: EventStore, question: Question, wish: StatsWish): Promise<FoundStats> {
  const asking = startAsking(question)
  const keys = wish.calls.flatMap((call) => (call.key === undefined ? [] : [call.key]))
  const named = [...keysIn(question.filter), ...keys, ...wish.groups]
  const about = { keys: named, bounds: question.bounds }
  const shaped = await withShapes(store, asking, branchesOf(question.sources, named), about)
  const reading = { store, asking, question, wish, branches: await withStrays(store, asking, shaped, about) }
  const [all, top] = await readWhole(reading)
  const groups = await withSlices(reading, top.groups)
  return {
    ...all,
    groups,
    groupsTotal: top.total,
    isExact: wish.calls.every(isExactly),
    cost: costOf(asking, 1),
  }
}

type Reading = { store: EventStore; asking: Asking; question: Question; wish: StatsWish; branches: readonly Branch[] }

async function ask({ store, asking, question, branches }: Reading, wanted: StatsAsk): Promise<BinaryRows | undefined> {
  const whole = statsStatement(branches, question, wanted)
  return whole && run(store, asking, whole, { groupsMax: GROUPS_MAX, groups: wanted.groups })
}

/** widthMs is how long a slice is, counted from 0; the whole range without one. */
function widthMs({ question: { bounds }, wish }: Reading, slice?: number): number {
  if (slice === undefined) return bounds.toMs - bounds.fromMs
  return sliceStartMs(bounds, wish.slices, slice + 1) - sliceStartMs(bounds, wish.slices, slice)
}

type All = { whole: Measured; slices: readonly Measured[] }
type Top = { groups: readonly TopGroup[]; total: number }

/** readWhole measures all events by slices, and the largest groups; where the whole is one slice, groups and whole come from one statement. */
async function readWhole(reading: Reading): Promise<[All, Top]> {
  const { groups, slices } = reading.wish
  if (groups.length === 0) return [await readSlices(reading), { groups: [], total: 0 }]
  if (slices > 1) return Promise.all([readSlices(reading), readTop(reading)])
  const { whole, ...top } = await readTop(reading)
  return [{ whole, slices: [whole] }, top]
}

async function readSlices(reading: Reading): Promise<All> {
  const { calls, slices: count } = reading.wish
  const rows = await ask(reading, { calls, groups: [], slices: count })
  const slices = Array.from({ length: count }, () => nobody(calls))
  let whole = nobody(calls)
  while (rows && !rows.atEnd) {
    const number = Number(rows.uint64())
    if (number === 0) whole = readMeasured(rows, calls, widthMs(reading))
    else slices[number - 1] = readMeasured(rows, calls, widthMs(reading, number - 1))
  }
  return { whole, slices }
}

type TopGroup = { readonly stored: readonly string[]; readonly whole: Measured }

async function readTop(reading: Reading): Promise<Top & { whole: Measured }> {
  const { calls, groups, limit } = reading.wish
  const rows = await ask(reading, { calls, groups, slices: undefined, top: limit })
  const found: TopGroup[] = []
  let [whole, total] = [nobody(calls), 0]
  while (rows && !rows.atEnd) {
    const stored = groups.map(() => rows.text())
    const isWhole = rows.uint8() === 1
    total = Number(rows.uint64())
    const measured = readMeasured(rows, calls, widthMs(reading))
    if (isWhole) whole = measured
    else found.push({ stored, whole: measured })
  }
  return { groups: found, total, whole }
}

/** withSlices reads the slices of the groups that come back, never those of all. */
async function withSlices(reading: Reading, top: readonly TopGroup[]): Promise<FoundGroup[]> {
  const { calls, groups, slices: count } = reading.wish
  if (top.length * count > CELLS_MAX) {
    throw badRequest(`${top.length} groups in ${count} slices are more than ${CELLS_MAX} values; ask for fewer of either`)
  }
  // One slice is the whole.
  if (count === 1) return top.map((group) => foundGroup(group, [group.whole]))
  const found = new Map(top.map(({ stored }) => [stored.join(GROUP_JOINT), Array.from({ length: count }, () => nobody(calls))]))
  const rows = top.length === 0 ? undefined : await ask(reading, { calls, groups, slices: count, only: [...found.keys()] })
  while (rows && !rows.atEnd) {
    const slice = Number(rows.uint64()) - 1
    const slices = found.get(groups.map(() => rows.text()).join(GROUP_JOINT))
    const measured = readMeasured(rows, calls, widthMs(reading, slice))
    if (slices) slices[slice] = measured
  }
  return top.map((group) => foundGroup(group, found.get(group.stored.join(GROUP_JOINT)) ?? []))
}

const foundGroup = ({ stored, whole }: TopGroup, slices: readonly Measured[]): FoundGroup => ({
  values: stored.map((text) => (text === '' ? null : text === '\0' ? '' : text)),
  whole,
  slices,
})
