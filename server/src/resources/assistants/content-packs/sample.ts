import type { Actor } from '../../../http/actor.ts'
import type { DatasetLayout } from '../../../lines/layout/catalog.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { seenEventsFor } from '../../access/policies/policies.ts'
import { locateAll } from '../../data/catalog/catalog.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { observeFields } from './observe.ts'
import { contentPacks } from './packs.ts'
import { type FieldIndex, type FieldSample, fieldsToSample, indexFields } from './recognize.ts'

/** What is known about the fields of a dataset. */
export type KnownFields = { readonly index: FieldIndex; readonly sample: FieldSample }

const SAMPLE_EVENTS = 100
const SAMPLE_RANGE_MS = 7 * 86_400_000
/** A full sample is kept this long, unless the dataset gets new fields. */
const SAMPLE_KEPT_MS = 5 * 60_000
const READS_AT_ONCE = 4
/** Fields beyond it are not matched with usual names: irregular events have too many. */
const FIELDS_MAX = 5_000

const NOTHING_KNOWN: KnownFields = { index: new Map(), sample: { events: 0, facts: new Map() } }

type KeptSample = { readonly known: KnownFields; readonly atMs: number }

const kept = new WeakMap<World, WeakMap<DatasetLayout, KeptSample>>()

/** Reads the newest events of each dataset; datasets that never received any are unknown. Full samples are kept for a while. */
export async function knownFieldsOf(
  world: World,
  actor: Actor,
  datasets: readonly DatasetRow[],
  signal: AbortSignal,
): Promise<KnownFields[]> {
  const layouts = await locateAll(
    world,
    actor.orgId,
    datasets.map(({ id }) => id),
  )
  const found: KnownFields[] = datasets.map(() => NOTHING_KNOWN)
  const waiting = datasets.map((dataset, at) => ({ dataset, at, layout: layouts[at] }))
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { dataset, at, layout } = next
      if (layout) found[at] = await knownFields(world, actor, dataset, layout, signal)
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, work))
  return found
}

async function knownFields(
  world: World,
  actor: Actor,
  dataset: DatasetRow,
  layout: DatasetLayout,
  signal: AbortSignal,
): Promise<KnownFields> {
  const own = kept.get(world) ?? new WeakMap<DatasetLayout, KeptSample>()
  kept.set(world, own)
  const nowMs = world.clock.monotonicMs()
  // A layout and a kept sample tell of all events.
  const seesAll = (await seenEventsFor(world, actor))?.(dataset) === undefined
  const last = seesAll ? own.get(layout) : undefined
  if (last && nowMs - last.atMs < SAMPLE_KEPT_MS) return last.known
  const events = await newestEvents(world, actor, dataset, signal)
  const index = indexFields(fieldNames(seesAll ? layout.map.slots.keys() : [], events))
  const known = { index, sample: { events: events.length, facts: observeFields(events, fieldsToSample(contentPacks, index)) } }
  if (seesAll && events.length === SAMPLE_EVENTS) own.set(layout, { known, atMs: nowMs })
  return known
}

function fieldNames(known: Iterable<string>, events: readonly ReadonlyMap<string, string>[]): ReadonlySet<string> {
  const names = new Set<string>(known)
  for (const leaves of events) {
    for (const name of leaves.keys()) if (names.size < FIELDS_MAX) names.add(name)
  }
  return names
}

async function newestEvents(world: World, actor: Actor, dataset: DatasetRow, signal: AbortSignal): Promise<ReadonlyMap<string, string>[]> {
  const startedMs = world.clock.monotonicMs()
  const nowMs = world.clock.nowMs()
  const bounds = { fromMs: nowMs - SAMPLE_RANGE_MS, toMs: nowMs }
  const eventQuery = await buildEventQuery(world, actor, { datasets: [dataset], filter: ALL_EVENTS, bounds, signal })
  const request = { limit: SAMPLE_EVENTS, newestFirst: true, keys: 'all', withRaw: false } as const
  const { events, cost } = await readEvents(world.events, eventQuery, request)
  recordSearch(world, actor, { datasets: [dataset], bytes: cost.bytes, startedMs })
  return events.map(({ leaves }) => leaves)
}
