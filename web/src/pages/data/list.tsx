import type { Dataset, DatasetTotals } from '@dendro/api'
import { datasetFlows } from '@dendro/api/dataset-flow'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { bytes, count } from '../../parts/chart/numbers.ts'
import { Shippers, useShipperKey } from '../../parts/datasets/shippers.tsx'
import { systemText } from '../../parts/datasets/system-datasets.ts'
import { FilterRow } from '../../parts/records/filter-row.tsx'
import { MorePages } from '../../parts/records/pages.tsx'
import { RecordTable } from '../../parts/records/records.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Page } from '../../parts/shell/page.tsx'
import { Permitted, useLacks } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { CollectionMenu } from './collection-menu.tsx'
import { DataLinkMenu, DataLinks } from './data-links.tsx'
import { FlowSign, Freshness } from './freshness.tsx'
import { useDatasetList } from './list-query.ts'
import { NewDataset } from './new-dataset.tsx'
import type { DataParams, Sort } from './params.ts'
import { useRetentionDays } from './retention-days.ts'
import { retentionText } from './retentions.ts'
import { Sparkline } from './sparkline.tsx'
import { UnassignedRejections } from './unassigned-rejections.tsx'
import { useVolumes, type Volume } from './volumes.ts'

/** Lists the datasets with their freshness; before the first event it explains how to send. */
export function DatasetList() {
  const params = useSearch({ from: '/inside/data' })
  const list = useDatasetList(params)
  const { totals } = list
  const isFiltered = params.find !== undefined || params.flow !== undefined
  return (
    <Page
      title="Data"
      actions={
        <>
          <span className="max-md:hidden">
            <DataLinks />
          </span>
          <Permitted to="logs_write">
            <NewDataset />
          </Permitted>
          <span className="md:hidden">
            <DataLinkMenu />
          </span>
        </>
      }
    >
      {list.error && <FailureNote thrown={list.error} again={() => list.refetch()} />}
      {totals?.received === 0 && <HowToSend />}
      {totals && <UnassignedRejections />}
      {(totals || isFiltered) && <Filters totals={totals} params={params} />}
      {!totals && !list.error && <Loading />}
      {totals && <Datasets list={list} params={params} />}
    </Page>
  )
}

/** Changes the parameters of the address. */
function useChange() {
  const navigate = useNavigate({ from: '/data' })
  return (next: (now: DataParams) => DataParams) => void navigate({ search: next, replace: true })
}

function Filters({ totals, params }: { totals: DatasetTotals | undefined; params: DataParams }) {
  const change = useChange()
  const find = (filterText: string) => change(({ find: _find, ...now }) => (filterText === '' ? now : { ...now, find: filterText }))
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Input
        aria-label="Find a dataset"
        placeholder="Find by name or tag"
        className="sm:max-w-72"
        value={params.find ?? ''}
        onChange={(event) => find(event.target.value)}
      />
      <FilterRow label="Show only">
        {datasetFlows.map((one) => (
          <Button
            key={one}
            variant={params.flow === one ? 'chosen' : 'quiet'}
            aria-pressed={params.flow === one}
            onClick={() => change(({ flow: _flow, ...now }) => (params.flow === one ? now : { ...now, flow: one }))}
          >
            <FlowSign flow={one} />
            {`${one[0]?.toUpperCase()}${one.slice(1)}`}
            <span className="tabular-nums">{count(totals?.by_flow[one] ?? 0)}</span>
          </Button>
        ))}
      </FilterRow>
      <label className="flex items-center gap-2 max-sm:px-1.5">
        <input
          type="checkbox"
          checked={params.all ?? false}
          onChange={(event) => change((now) => ({ ...now, all: event.target.checked }))}
        />
        Show system datasets
      </label>
      <span role="status" className="text-soft text-xs">
        {totals && (totals.found === 1 ? '1 dataset' : `${count(totals.found)} datasets`)}
      </span>
    </div>
  )
}

type DatasetsProps = { list: ReturnType<typeof useDatasetList>; params: DataParams }

function Datasets({ list, params }: DatasetsProps) {
  const change = useChange()
  const { datasets = [], idsByPage } = list
  const volumes = useVolumes(idsByPage)
  return (
    <div aria-busy={list.isPlaceholderData} className="flex flex-col gap-3">
      {volumes.error !== undefined && <p className="text-error text-xs">Volumes are unavailable.</p>}
      {datasets.length === 0 ? (
        <EmptyState title="No dataset matches">
          <Button onClick={() => change(({ find: _find, flow: _flow, ...now }) => now)}>Show all</Button>
        </EmptyState>
      ) : (
        <Table
          datasets={datasets}
          idsByPage={idsByPage}
          volumes={volumes}
          sort={params.sort ?? 'name'}
          onSort={(sort) => change((now) => ({ ...now, sort }))}
        />
      )}
      <MorePages of={list} rest={(list.totals?.found ?? 0) - datasets.length} />
    </div>
  )
}

type TableProps = {
  datasets: readonly Dataset[]
  idsByPage: readonly (readonly string[])[]
  volumes: { of(id: string): Volume | undefined }
  sort: Sort
  onSort(sort: Sort): void
}

const columns: readonly (readonly [string, Sort | undefined, string?])[] = [
  ['Dataset', 'name'],
  ['Last event', 'last'],
  ['Today', 'today', 'text-right max-md:hidden'],
  ['7 days', 'week', 'text-right'],
  ['Retention', undefined, 'max-md:hidden'],
  ['Tags', undefined, 'max-lg:hidden'],
]

/** Sorting by volume shows usage. */
const isVolume = (sort: Sort | undefined): boolean => sort === 'today' || sort === 'week'

/** Lists datasets; sorted by name, they are grouped by collection. */
function Table({ datasets, idsByPage, volumes, sort, onSort }: TableProps) {
  const nowMs = Date.now()
  const retentionOf = useRetentionDays(idsByPage)
  const lacks = useLacks()
  const groups = sort === 'name' ? [...Map.groupBy(datasets, ({ collection }) => collection)] : [['', datasets] as const]
  return (
    <RecordTable label="Datasets" rowCount={datasets.length} className="rounded-md border border-line bg-panel">
      <table aria-label="Datasets" className="w-full">
        <thead className="text-left text-soft text-xs">
          <tr>
            {columns.map(([name, sortedBy, className = '']) => {
              const own = isVolume(sortedBy) && lacks('usage_read') ? undefined : sortedBy
              return (
                <th
                  key={name}
                  aria-sort={own === sort ? (own === 'name' ? 'ascending' : 'descending') : undefined}
                  className={`relative whitespace-nowrap px-3 py-2 font-medium has-[button:hover]:text-ink max-sm:px-2 ${className}`}
                >
                  <span aria-hidden={own !== undefined}>{name}</span>
                  {own === sort && <Icon of={own === 'name' ? ArrowUp : ArrowDown} size="small" className="ml-1 inline" />}
                  {/* Chromium does not repeat buttons with a header: this one lies over its text. */}
                  {own && <button type="button" className="absolute inset-0" aria-label={name} onClick={() => onSort(own)} />}
                </th>
              )
            })}
            <th className="px-3 py-2 max-sm:hidden">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        {groups.map(([collection, own]) => (
          <tbody key={collection}>
            {collection !== '' && (
              <tr className="border-line border-t bg-sunk">
                <th colSpan={2} scope="rowgroup" className="break-words px-3 py-1 text-left font-medium max-sm:px-2">
                  {collection}
                  <span className="ml-2 font-normal text-soft text-xs">{systemText(collection)}</span>
                </th>
                <td colSpan={columns.length - 1} className="px-3 py-1 text-right">
                  {own.every((one) => !one.is_system_generated) && (
                    <Permitted to="logs_write">
                      <CollectionMenu collection={collection} />
                    </Permitted>
                  )}
                </td>
              </tr>
            )}
            {own.map((dataset) => (
              <DatasetRow
                key={dataset.id}
                dataset={dataset}
                volume={volumes.of(dataset.id)}
                retentionDays={retentionOf(dataset.id)}
                nowMs={nowMs}
                isNamed={collection === ''}
              />
            ))}
          </tbody>
        ))}
      </table>
    </RecordTable>
  )
}

type DatasetRowProps = {
  dataset: Dataset
  volume: Volume | undefined
  /** The retention that a rule sets, if known. */
  retentionDays: string | undefined
  nowMs: number
  isNamed: boolean
}

function DatasetRow({ dataset, volume, retentionDays, nowMs, isNamed }: DatasetRowProps) {
  const tags = Object.entries(dataset.tags)
  return (
    <tr className="border-line border-t">
      <td className="min-w-32 max-w-md px-3 py-1.5 max-sm:min-w-20 max-sm:px-2">
        <Link to="/data" search={{ id: dataset.id }} className="break-words text-accent hover:underline">
          {isNamed && <span className="text-soft">{dataset.collection} / </span>}
          {dataset.dataset}
        </Link>
        {isNamed && <p className="text-soft text-xs">{systemText(dataset.collection)}</p>}
      </td>
      <td className="px-3 py-1.5 max-sm:px-2">
        <Freshness lastMs={dataset.metadata.last_heartbeat_at} nowMs={nowMs} />
      </td>
      <td className="whitespace-nowrap px-3 py-1.5 text-right tabular-nums max-md:hidden">
        <Size of={volume?.today} />
      </td>
      <td className="px-3 py-1.5 max-sm:px-2">
        <span className="flex items-center justify-end gap-2 whitespace-nowrap tabular-nums">
          {volume && (
            <span className="max-md:hidden">
              <Sparkline days={volume.days} label={dataset.dataset} />
            </span>
          )}
          <span className="min-w-14 text-right">
            <Size of={volume?.week} />
          </span>
        </span>
      </td>
      <td className="whitespace-nowrap px-3 py-1.5 max-md:hidden">
        {dataset.retention ? retentionText(dataset.retention) : <span className="text-soft">{retentionDays ?? 'by rule'}</span>}
      </td>
      <td className="max-w-64 px-3 py-1.5 max-lg:hidden">
        <span className="flex flex-wrap gap-1">
          {tags.slice(0, TAGS_SHOWN).map(([name, value]) => (
            <span key={name} className="max-w-40 truncate rounded border border-line px-1 text-xs" title={`${name}: ${value}`}>
              {name}: {value}
            </span>
          ))}
          {tags.length > TAGS_SHOWN && <span className="text-soft text-xs">+{tags.length - TAGS_SHOWN}</span>}
        </span>
      </td>
      <td className="px-3 py-1.5 text-right max-sm:hidden">
        <Link to="/explore" search={{ d: [dataset.id] }} aria-label={`Explore ${dataset.dataset}`} className="text-accent hover:underline">
          Explore
        </Link>
      </td>
    </tr>
  )
}

const TAGS_SHOWN = 3

function Size({ of }: { of: number | undefined }) {
  if (of === undefined) return <span className="text-soft">…</span>
  return of === 0 ? <span className="text-soft">0</span> : bytes(of)
}

function HowToSend() {
  const shipperKey = useShipperKey()
  return (
    <section aria-live="polite" className="flex flex-col gap-3">
      <h2 className="font-semibold">Waiting for the first event</h2>
      <p>
        <span className="text-soft">It appears here within seconds.</span>{' '}
        <Link to="/welcome" className="text-accent underline">
          Send demo data, or create a key
        </Link>
      </p>
      <Shippers {...shipperKey} />
    </section>
  )
}
