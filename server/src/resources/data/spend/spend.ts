import type { contract, QueryOf, ReplyOf, SpendDimension, SpendGroup, SpendSum } from '@dendro/api'
import { type SampleKind, sampleKinds } from '../../../events/ledger/samples.ts'
import { type SpentRow, selectSampled } from '../../../events/ledger/spent.ts'
import type { Actor } from '../../../http/actor.ts'
import { unavailable } from '../../../kernel/errors.ts'
import { NIL_ID } from '../../../kernel/ids.ts'
import { sliceLengthMs } from '../../../query/slices.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import { type DatasetRow, visibleDatasets, visibleLogIds } from '../datasets/datasets.ts'
import { logSlicesOver, type Period, periodOf } from '../usage/usage.ts'
import { spendSettings } from './settings.ts'
import { type Counted, keptDays, readSpent, type SpendWorld, sumOf } from './spent.ts'

export { type SpendMeasure, watchSpend } from './watched.ts'

const DAY_MS = 86_400_000

type SpendReply = ReplyOf<typeof contract.spend.get>

/** What arrived in the datasets that the caller may see, divided by one dimension. */
export async function readSpend(world: SpendWorld, actor: Actor, ask: QueryOf<typeof contract.spend.get>): Promise<SpendReply> {
  const nowMs = world.clock.nowMs()
  const range = ask.time_range === undefined && ask.from_ts === undefined && ask.to_ts === undefined ? { time_range: 'Last 30 days' } : ask
  const requested = periodOf(range, nowMs, { slices: ask.num_of_slices, slicesFor: logSlicesOver })
  const kind = sampleKinds.find((one) => one === ask.by)
  const period = kind === undefined ? requested : inDays(requested)
  const [{ price }, datasets] = await Promise.all([spendSettings(world, actor.orgId), visibleDatasets(world, actor)])
  const request = { bounds: period, slices: period.slices, groupsMax: ask.limit, from: ask.from }
  const { all, groups, rest, isExact } =
    kind === undefined ? await counted(world, actor, ask.by, request) : await sampled(world, actor, kind, request)
  const totals = sumOf(all, period.slices, price)
  const sumWithShare = (own: readonly Counted[]) => {
    const { events, ...sum } = sumOf(own, period.slices, price)
    const share = Number(totals.bytes) === 0 ? 0 : Number(sum.bytes) / Number(totals.bytes)
    return { share, ...(kind === undefined ? { events } : {}), ...sum }
  }
  const names = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  return {
    start_time: period.fromMs,
    end_time: period.toMs,
    slice_ms: sliceLengthMs(period, period.slices),
    by: ask.by,
    ...(price ? { price } : {}),
    total: totals,
    is_exact: period.isExact && isExact,
    is_estimate: kind !== undefined,
    ...(rest.length === 0 ? {} : { other: sumWithShare(rest) }),
    groups: groups.map((own) => ({ ...headOf(ask.by, own[0]?.key ?? '', names), ...sumWithShare(own) })),
  }
}

/** Widens a period to full days, with at most one slice for each. */
function inDays({ fromMs, toMs, slices, isExact }: Period): Period {
  const bounds = { fromMs: Math.floor(fromMs / DAY_MS) * DAY_MS, toMs: Math.ceil(toMs / DAY_MS) * DAY_MS }
  const days = Math.max(1, (bounds.toMs - bounds.fromMs) / DAY_MS)
  return { ...bounds, slices: Math.min(slices, days), isExact: isExact && bounds.fromMs === fromMs && bounds.toMs === toMs }
}

/** The rows of all, of each group, and of the rest. */
type Divided = { all: readonly Counted[]; groups: readonly (readonly SpentRow[])[]; rest: readonly Counted[]; isExact: boolean }

async function counted(world: SpendWorld, actor: Actor, by: SpendDimension, request: SpendRange): Promise<Divided> {
  const exact = by === 'key' || by === 'protocol' ? by : 'dataset'
  const { rows, isExact } = await readSpent(world, actor, { ...request, by: exact })
  return { all: rows, ...byRank(rows, request.groupsMax), isExact }
}

/** Samples tell the shares of groups, the ledger the whole. Where samples stand for more than arrived, they are reduced. */
async function sampled(world: SpendWorld, actor: Actor, kind: SampleKind, request: SpendRange): Promise<Divided> {
  const { bounds, slices, groupsMax, from } = request
  const { rows: all, isExact } = await readSpent(world, actor, { ...request, by: 'nothing' })
  const [logIds, kept] = await Promise.all([visibleLogIds(world, actor, from), keptDays(world, actor)])
  const span = { orgNumber: actor.orgNumber, ...bounds, isOpen: false, logIds }
  if (bounds.toMs <= bounds.fromMs) return { all, groups: [], rest: [], isExact }
  await world.ledger.flushSamples().catch((cause) => {
    throw unavailable('the samples cannot be read now', { cause })
  })
  const found = await selectSampled(world.events, span, { slices, kind, groupsMax, kept })
  const [arrived, stoodFor] = [bytesOf(all), bytesOf(found)]
  const part = stoodFor > arrived ? arrived / stoodFor : 1
  const rows = found.map((row) => ({ ...row, bytes: Math.floor(row.bytes * part), byteDays: row.byteDays * part }))
  const { groups } = byRank(rows, groupsMax)
  return { all, groups, rest: restOf(all, groups.flat(), slices), isExact }
}

/** What is left of the whole in each slice. A slice in which samples stand for more than arrived takes it from its neighbors. */
function restOf(all: readonly Counted[], listed: readonly SpentRow[], slices: number): Counted[] {
  const left = Array.from({ length: slices }, (_, slice) => ({ slice, events: 0, bytes: 0, byteDays: 0 }))
  for (const { slice, bytes, byteDays } of [...all, ...listed.map((row) => ({ ...row, bytes: -row.bytes, byteDays: -row.byteDays }))]) {
    const one = left[slice]
    if (one) Object.assign(one, { bytes: one.bytes + bytes, byteDays: one.byteDays + byteDays })
  }
  const settled = settle(settle(left).reverse()).reverse()
  return settled.some(({ bytes }) => bytes > 0) ? settled : []
}

/** Moves what is below zero to the rows behind. */
function settle(rows: readonly Counted[]): Counted[] {
  let [bytes, byteDays] = [0, 0]
  return rows.map((row) => {
    ;[bytes, byteDays] = [bytes + row.bytes, byteDays + row.byteDays]
    const own = { ...row, bytes: Math.max(0, bytes), byteDays: Math.max(0, byteDays) }
    ;[bytes, byteDays] = [Math.min(0, bytes), Math.min(0, byteDays)]
    return own
  })
}

const bytesOf = (rows: readonly Counted[]): number => rows.reduce((sum, { bytes }) => sum + bytes, 0)

function byRank(rows: readonly SpentRow[], groupsMax: number): Pick<Divided, 'groups' | 'rest'> & { rest: readonly SpentRow[] } {
  const ranked = Map.groupBy(rows, ({ rank }) => rank)
  const rest = ranked.get(groupsMax + 1) ?? []
  ranked.delete(groupsMax + 1)
  return { groups: [...ranked].sort(([a], [b]) => a - b).map(([, own]) => own), rest }
}

type SpendRange = { bounds: TimeBounds; slices: number; groupsMax: number; from: readonly string[] | undefined }

/** What names a group: the dataset, the sender or the protocol. */
function headOf(by: SpendDimension, key: string, datasets: ReadonlyMap<string, DatasetRow>): Omit<SpendGroup, keyof SpendSum | 'share'> {
  if (by === 'dataset') {
    const found = datasets.get(key)
    return { name: found ? `${found.collection}.${found.dataset}` : `deleted dataset ${key}`, log_id: key }
  }
  if (by === 'protocol') return { name: key, protocol: key }
  if (by === 'sender') return { name: key, sender: key }
  if (by === 'pattern' || by === 'field') {
    const [log_id = '', name = ''] = [key.slice(0, NIL_ID.length), key.slice(NIL_ID.length + 1)]
    return by === 'pattern' ? { name, log_id, pattern: name } : { name, log_id, field: name }
  }
  const [type, id = NIL_ID] = key.split(' ')
  if ((type !== 'API_KEY_ID' && type !== 'USER_ID') || id === NIL_ID) return { name: 'unknown sender' }
  return { name: id, identity: { type, id } }
}
