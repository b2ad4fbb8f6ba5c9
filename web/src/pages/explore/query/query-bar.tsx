import type { Event } from '@dendro/api'
import type { RefObject } from 'react'
import { DatasetPicker, type PickedDataset } from '../../../parts/dataset-picker.tsx'
import type { Field } from '../../../parts/fields.ts'
import { Permitted } from '../../../parts/permitted.tsx'
import type { QueryFocus } from '../../../parts/query-input.tsx'
import { TimePicker } from '../../../parts/time-picker.tsx'
import type { Zone } from '../../../parts/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import type { Columns } from '../events/columns.ts'
import { type ChangeParams, type ExploreParams, optional, withQuery, withRange } from '../explore-params.ts'
import { CreateMonitorButton } from '../share/create-monitor-button.tsx'
import type { ViewRequest } from '../share/curl.ts'
import { ExportMenu } from '../share/export-menu.tsx'
import { ShareMenu } from '../share/share-menu.tsx'
import type { ExploreQuery } from './explore-query.ts'
import { HistoryMenu } from './history-menu.tsx'
import { QueryForm } from './query-form.tsx'
import { SavedSearches } from './saved-searches.tsx'

type QueryBarProps = {
  params: ExploreParams
  change: ChangeParams
  query: ExploreQuery
  columns: Columns
  datasets: readonly PickedDataset[]
  fields: readonly Field[]
  loadedEvents: readonly Event[]
  failure: unknown
  view: ViewRequest
  datasetName(id: string): string
  isBusy: boolean
  zone: Zone
  inputRef: RefObject<QueryFocus | null>
  setZone(zone: Zone): void
  refresh(): void
  toggleLive(): void
  onCancel(): void
}

/** QueryBar selects datasets, query and time range, and has the menus for saving, sharing and exporting. */
export function QueryBar(props: QueryBarProps) {
  const { params, change, query, columns, zone, setZone, refresh, toggleLive, onCancel } = props
  const isLive = params.live === true
  return (
    <div className="flex flex-wrap items-start gap-2 border-line border-b bg-panel px-3 py-2 max-sm:gap-1 max-sm:[&>button]:h-7 max-sm:[&>button]:px-2 max-sm:[&>button]:text-xs">
      <DatasetPicker all={props.datasets} picked={params.d} onPick={(d) => change((now) => optional({ ...now, d, cols: undefined }))} />
      <div className="order-last flex w-full min-w-0 lg:order-none lg:w-auto lg:flex-1">
        <QueryForm
          query={params.q ?? ''}
          off={params.off ?? []}
          failure={props.failure}
          fields={props.fields}
          isBusy={props.isBusy}
          inputRef={props.inputRef}
          onQuery={(q, off) => change((now) => optional({ ...withQuery(now, q), off: off ? [...off] : now.off }))}
          onRun={refresh}
          onCancel={onCancel}
        />
      </div>
      <TimePicker range={query.range} zone={zone} onPick={(range) => change((now) => withRange(now, range))} onZone={setZone} />
      <Button aria-pressed={isLive} variant={isLive ? 'main' : 'plain'} title="Live (l)" onClick={toggleLive}>
        Live
      </Button>
      <SavedSearches params={params} columns={columns.names} onOpen={(next) => change(() => next)} />
      <HistoryMenu zone={zone} nameOfDataset={props.datasetName} onOpen={change} />
      <ShareMenu params={params} columns={columns.names} view={props.view} />
      <ExportMenu query={query} loadedEvents={props.loadedEvents} />
      <Permitted to="monitors_write">
        <CreateMonitorButton params={params} />
      </Permitted>
    </div>
  )
}
