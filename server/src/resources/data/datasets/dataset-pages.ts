import { type contract, type DatasetFlow, type DatasetTotals, flowOf, type QueryOf, type ReplyOf } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { type SerializedJson, serializeOnce } from '../../../http/serialized-json.ts'
import { badRequest, forbidden } from '../../../kernel/errors.ts'
import { parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { World } from '../../../world.ts'
import { AUDIT_COLLECTION } from '../../access/audit/audit.ts'
import { byName, type ListOrder, newest, pageOf, searched, searchedText, withIds } from '../../list-pages.ts'
import { CANARY_COLLECTION } from './fixed-retention.ts'
import { type DatasetList, type LatestArrivals, latestArrivals, shownDataset, visibleDatasets, withArrivals } from './listing.ts'
import type { DatasetRow } from './rows.ts'
import { type VolumesWorld, visibleVolumes } from './volumes.ts'

type DatasetListReply = ReplyOf<typeof contract.datasets.list> | SerializedJson<ReplyOf<typeof contract.datasets.list>>
type DatasetListQuery = QueryOf<typeof contract.datasets.list>
type PagesWorld = VolumesWorld & Pick<World, 'clock'>

/** Lists what `from` or `from_expr` selects; an empty selection is no error here. */
export async function listDatasets(world: PagesWorld, actor: Actor, query: DatasetListQuery): Promise<DatasetListReply> {
  const visible = await visibleDatasets(world, actor)
  const selected = searched(selectedBy(query, visible), query.search, textOf)
  const arrivals = await latestArrivals(world, actor.orgId)
  const nowMs = world.clock.nowMs()
  const flow = ({ id }: DatasetRow): DatasetFlow => flowOf(arrivals.get(id), nowMs)
  const found = query.flow === undefined ? selected : selected.filter((row) => flow(row) === query.flow)
  const { rows, ...rest } = pageOf(found, query, await orderOf(world, actor, query.sort, arrivals))
  const list = await withArrivals(world, actor.orgId, rows)
  if (rows === visible && !query.totals) return serializedList(list)
  return { ...shownList(list), ...rest, ...(query.totals ? { totals: totalsOf({ visible, selected, found, flow, arrivals }) } : {}) }
}

const shownList = ({ rows, arrivals }: DatasetList) => ({ datasets: rows.map((row) => shownDataset(row, arrivals)) })
const serializedList = serializeOnce(shownList)

const textOf = ({ collection, dataset, tags }: DatasetRow): string => searchedText([`${collection}/${dataset}`], tags)

/** The datasets that all parameters but the search and the flow select; the list itself when there are none. */
function selectedBy(query: DatasetListQuery, visible: readonly DatasetRow[]): readonly DatasetRow[] {
  const { from = [] } = query
  const fromExpr = query.from_expr?.trim() ?? ''
  if (from.length > 0 && fromExpr !== '') {
    throw badRequest('from and from_expr exclude each other', {
      errors: [{ field: 'from_expr', code: 'CONFLICT', message: 'excludes from' }],
    })
  }
  const selector = fromExpr === '' ? undefined : parseSelector(query.from_expr ?? '')
  const chosen = selector ? matchDatasets(selector, visible) : withIds(visible, from)
  const { collection, is_system_generated: isSystem } = query
  if (collection === undefined && isSystem === undefined) return chosen
  return chosen.filter(
    (row) =>
      (collection === undefined || row.collection === collection) && (isSystem === undefined || row.is_system_generated === isSystem),
  )
}

type Sort = NonNullable<DatasetListQuery['sort']>

async function orderOf(world: PagesWorld, actor: Actor, sort: Sort = 'newest', arrivals: LatestArrivals): Promise<ListOrder<DatasetRow>> {
  if (sort === 'newest') return newest
  if (sort === 'name') return byName(nameOf)
  if (sort === 'last_event') return { name: sort, keysOf: (row) => [-(arrivals.get(row.id) ?? 0), ...nameOf(row)] }
  if (!hasPermission(actor, 'usage_read')) throw forbidden('sorting by volume needs the permission usage_read')
  const volumes = await visibleVolumes(world, actor)
  const part = sort === 'volume_today' ? 'today' : 'week'
  return { name: sort, keysOf: (row) => [-(volumes.get(row.id)?.[part] ?? 0), ...nameOf(row)] }
}

const nameOf = ({ collection, dataset }: DatasetRow) => [collection, dataset] as const

type Counted = {
  visible: readonly DatasetRow[]
  selected: readonly DatasetRow[]
  found: readonly DatasetRow[]
  flow(row: DatasetRow): DatasetFlow
  arrivals: LatestArrivals
}

function totalsOf({ visible, selected, found, flow, arrivals }: Counted): DatasetTotals {
  const by_flow: Record<DatasetFlow, number> = { receiving: 0, quiet: 0, silent: 0, waiting: 0 }
  for (const row of selected) by_flow[flow(row)] += 1
  const received = visible.filter(({ id, collection }) => arrivals.has(id) && !ownCollections.has(collection)).length
  return { all: visible.length, found: found.length, by_flow, received }
}

/** What the service itself writes is not received. Spans are in a system collection too, but senders report them. */
const ownCollections: ReadonlySet<string> = new Set([CANARY_COLLECTION, AUDIT_COLLECTION, '.usage'])
