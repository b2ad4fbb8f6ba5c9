import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import { countTargetedEvents, oldestEventMs } from '../../../events/purge/purge.ts'
import { unavailableFailure } from '../../../events/store/away.ts'
import { countByTier } from '../../../events/tiers/tiers.ts'
import type { Actor } from '../../../http/actor.ts'
import { unavailable } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { isLimited, visibleTo } from '../../access/policies/policies.ts'
import { byName, pageOf, searched, searchedText, withIds } from '../../list-pages.ts'
import { checkSeesWhole, type DatasetRow, EVENT_REMOVAL_JOB, visibleDatasets, wholeDatasets } from '../datasets/datasets.ts'
import { DAY_MS, effectiveRetention, isAgreed, nextRemoval, type RetentionRules, retentionCutoffMs } from './decide.ts'
import { rulesOf } from './keepings.ts'
import { orphansOf } from './orphans.ts'
import { readState } from './removal.ts'
import { type RemovedRow, selectJobPayload, selectOwnTombstones, selectRemoved } from './rows.ts'

export { type ClockReading, readClock, readingOf } from './decide.ts'
export { retentionCutoffs, retentionDays } from './keepings.ts'
export { orphanSweep } from './orphans.ts'
export { eventRemoval } from './removal.ts'

type Reader = Pick<World, 'meta' | 'clock' | 'deployment'>
type Overview = ReplyOf<typeof contract.retention.overview>
type DatasetOverview = Overview['datasets'][number]
type DatasetDetails = ReplyOf<typeof contract.retention.ofDataset>

/** A number above all sequence numbers. */
const SEQ_END = 2n ** 64n - 1n

export async function retentionOverview(
  world: Reader,
  actor: Actor,
  query: QueryOf<typeof contract.retention.overview>,
): Promise<Overview> {
  const { meta, clock } = world
  const visible = await visibleDatasets(world, actor)
  const found = searched(withIds(visible, query.from), query.search, textOf)
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byFullName : undefined)
  const ids = rows === visible ? undefined : rows.map(({ id }) => id)
  const [whole, rules, removed, tombstones, payload, orphans] = await Promise.all([
    wholeDatasets(world, actor),
    rulesOf(world, actor.orgId),
    selectRemoved(meta, actor.orgId, ids),
    selectOwnTombstones(meta, actor.orgId),
    selectJobPayload(meta, EVENT_REMOVAL_JOB),
    orphansOf(world, actor.orgNumber),
  ])
  const { reading } = readState(payload?.payload ?? {})
  const notes = new Map(removed.map((row) => [row.log_id, row]))
  const counted = new Set(whole.map(({ id }) => id))
  return {
    clock: {
      is_trusted: reading !== undefined && isAgreed(reading) && clock.report?.().problem === undefined,
      steady_since: reading?.steadySinceMs ?? null,
      checked_at: reading?.seenMs ?? null,
    },
    ...rest,
    ...(query.totals ? { totals: { all: visible.length, found: found.length } } : {}),
    datasets: rows.map((row) => shownDatasetRetention(row, rules, counted.has(row.id) ? notes.get(row.id) : undefined, clock.nowMs())),
    deleted: await visibleTo(
      world,
      actor,
      tombstones.map((tombstone) => ({ ...tombstone, id: tombstone.log_id })),
    ).then((seen) => seen.map(({ id: _, ...tombstone }) => tombstone)),
    orphans: ((await isLimited(world, actor)) ? [] : orphans).map(({ log_id, events }) => ({ log_id, events })),
  }
}

const textOf = ({ collection, dataset, tags }: DatasetRow): string => searchedText([`${collection}/${dataset}`], tags)
const byFullName = byName(({ collection, dataset }: DatasetRow) => [collection, dataset])

/** Reads the oldest event from the store, and the number of events that are removed with its day. */
export async function retentionOfDataset(
  world: Reader & Pick<World, 'events' | 'cold'>,
  actor: Actor,
  row: DatasetRow,
): Promise<DatasetDetails> {
  await checkSeesWhole(world, actor, row)
  const rules = await rulesOf(world, actor.orgId)
  const removed = (await selectRemoved(world.meta, actor.orgId, [row.id])).at(0)
  const kept = shownDatasetRetention(row, rules, removed, world.clock.nowMs())
  const away = await world.events.cold?.unavailableReason()
  if (away !== undefined) throw unavailable(away, { retryAfterS: 10 })
  const found = await Promise.all([oldestAndNext(world, row, rules), world.cold && countByTier(world.events, row.id)]).catch((cause) => {
    throw unavailableFailure(cause) ?? unavailable('the event store does not answer', { cause })
  })
  const [next, tiers] = found
  return { ...kept, ...next, ...(tiers ? { tiers } : {}) }
}

async function oldestAndNext(
  { events }: Pick<World, 'events'>,
  row: DatasetRow,
  rules: RetentionRules,
): Promise<Pick<DatasetDetails, 'oldest_event_at' | 'next'>> {
  const oldestMs = await oldestEventMs(events, row.id)
  const next = oldestMs === undefined ? undefined : nextRemoval(oldestMs, effectiveRetention(row, rules))
  if (oldestMs === undefined || !next) return { oldest_event_at: oldestMs ?? null, next: null }
  const going = await countTargetedEvents(events, { logIds: [row.id], old: { beforeDay: next.beforeMs / DAY_MS, beforeSeq: SEQ_END } })
  return { oldest_event_at: oldestMs, next: { at: next.atMs, before: next.beforeMs, events: going } }
}

function shownDatasetRetention(row: DatasetRow, rules: RetentionRules, removed: RemovedRow | undefined, nowMs: number): DatasetOverview {
  const keeping = effectiveRetention(row, rules)
  return {
    log_id: row.id,
    collection: row.collection,
    dataset: row.dataset,
    retention_days: keeping.days ?? null,
    rule: keeping.by,
    cutoff: retentionCutoffMs(keeping, nowMs) ?? null,
    removed: removed
      ? { events: removed.events, last_events: removed.last_events, last_at: removed.last_at, before: removed.before_ms }
      : null,
  }
}
