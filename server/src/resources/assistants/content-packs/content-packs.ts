import type { BodyOf, ContentPackOffer, ContentPackPreview, contract, QueryOf, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, findDataset, latestArrivals, visibleDatasets } from '../../data/datasets/datasets.ts'
import { fillPack } from './fill.ts'
import { DASHBOARD_PART, filledFor, ownParts } from './filled-pack.ts'
import { measurePart } from './measure.ts'
import { contentPacks } from './packs.ts'
import { recognize } from './recognize.ts'
import { type InstalledPart, selectInstalled } from './rows.ts'
import { type KnownFields, knownFieldsOf } from './sample.ts'
import { resolveParameters } from './values.ts'

export { installPack } from './install.ts'

type ListQuery = QueryOf<typeof contract.contentPacks.list>
type ListReply = ReplyOf<typeof contract.contentPacks.list>
type PreviewRequest = BodyOf<typeof contract.contentPacks.preview>

const OFFERS = 20
/** The number of datasets that are considered when none is named: those that received events last. */
const DATASETS_MAX = 20
const MEASURED_AT_ONCE = 3

/** Lists the packs that suit the events of the datasets. */
export async function listOffers(world: World, actor: Actor, query: ListQuery, signal: AbortSignal): Promise<ListReply> {
  const { datasets, isCut } = await datasetsFor(world, actor, query)
  const known = await knownFieldsOf(world, actor, datasets, signal)
  const installed = await selectInstalled(
    world.meta,
    actor.orgId,
    datasets.map(({ id }) => id),
  )
  const offers = datasets.flatMap((dataset, at) => offersFor(dataset, known[at], installed))
  const limit = query.limit ?? OFFERS
  return { offers: offers.slice(0, limit), is_cut: isCut || offers.length > limit }
}

async function datasetsFor(world: World, actor: Actor, { dataset_id, system = false }: ListQuery) {
  if (dataset_id !== undefined) return { datasets: [await findDataset(world, actor, dataset_id)], isCut: false }
  const [visible, arrivals] = await Promise.all([visibleDatasets(world, actor), latestArrivals(world, actor.orgId)])
  const lastAt = ({ id, created_at }: DatasetRow): number => arrivals.get(id) ?? created_at
  const latest = visible
    .filter(({ is_system_generated }) => system || !is_system_generated)
    .toSorted((a, b) => lastAt(b) - lastAt(a) || (a.id < b.id ? -1 : 1))
  return { datasets: latest.slice(0, DATASETS_MAX), isCut: latest.length > DATASETS_MAX }
}

function offersFor(dataset: DatasetRow, known: KnownFields | undefined, installed: readonly InstalledPart[]): ContentPackOffer[] {
  if (!known || known.sample.events === 0) return []
  return recognize(contentPacks, { collection: dataset.collection, ...known }).flatMap(({ pack, fields }) => {
    const parameters = resolveParameters(pack, fields, known.sample)
    const filled = fillPack(pack, dataset, parameters)
    const own = ownParts(installed, dataset, pack)
    if (filled.widgets.length === 0) return []
    return {
      pack: pack.id,
      name: pack.name,
      dataset_id: dataset.id,
      collection: dataset.collection,
      dataset: dataset.dataset,
      fields: parameters.flatMap(({ name, value }) => (typeof value === 'string' ? [{ parameter: name, field: value }] : [])),
      widgets: filled.widgets.length,
      ...dashboardIdIn(own),
      monitors: filled.monitors.map((monitor) => ({ id: monitor.id, name: monitor.name, ...monitorIdIn(own, monitor.id) })),
      left_out: [...filled.leftOut],
    }
  })
}

type OwnParts = ReadonlyMap<string, InstalledPart>

const dashboardIdIn = (own: OwnParts) => {
  const part = own.get(DASHBOARD_PART)
  return part ? { dashboard_id: part.record_id } : {}
}

const monitorIdIn = (own: OwnParts, id: string) => {
  const part = own.get(id)
  return part ? { monitor_id: part.record_id } : {}
}

/** Shows what would be created, with what the queries give now. */
export async function previewPack(
  world: World,
  actor: Actor,
  packId: string,
  { dataset_id, parameters: given, time_range }: PreviewRequest,
  signal: AbortSignal,
): Promise<ContentPackPreview> {
  const { pack, dataset, sampled, filled, parameters } = await filledFor(world, actor, { packId, datasetId: dataset_id, given }, signal)
  const own = ownParts(await selectInstalled(world.meta, actor.orgId, [dataset.id]), dataset, pack)
  const measure = measurePart(world, actor, time_range, signal)
  return {
    pack: pack.id,
    name: pack.name,
    dataset_id: dataset.id,
    sampled,
    parameters,
    dashboard: {
      name: filled.name,
      description: filled.description,
      ...dashboardIdIn(own),
      widgets: await inBatches(filled.widgets, async (widget) => ({ ...widget, ...(await measure(widget)) })),
    },
    monitors: await inBatches(filled.monitors, async ({ id, name, rule }) => ({
      id,
      name,
      ...monitorIdIn(own, id),
      rule,
      ...(await measure({ queries: rule.queries, formulas: rule.formulas ?? [] })),
    })),
    left_out: [...filled.leftOut],
  }
}

/** Runs a few at a time, and returns the results in order. */
async function inBatches<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let first = 0; first < items.length; first += MEASURED_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(first, first + MEASURED_AT_ONCE).map(run))))
  }
  return results
}
