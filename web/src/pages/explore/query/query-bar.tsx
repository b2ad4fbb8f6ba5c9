import type { Event } from '@dendro/api'
import { Radio } from 'lucide-react'
import type { RefObject } from 'react'
import { DatasetPicker } from '../../../parts/datasets/dataset-picker.tsx'
import type { Field } from '../../../parts/query/fields.ts'
import type { QueryFocus } from '../../../parts/query/query-input.tsx'
import { TimePicker } from '../../../parts/time/time-picker.tsx'
import type { Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import type { Columns } from '../events/list/columns.ts'
import { type ChangeParams, type ExploreParams, optional, withQuery, withRange } from '../explore-params.ts'
import type { ViewRequest } from '../share/curl.ts'
import { ActionsMenu } from './actions-menu.tsx'
import type { ExploreQuery } from './explore-query.ts'
import { QueryForm } from './query-form.tsx'

type QueryBarProps = {
  params: ExploreParams
  change: ChangeParams
  query: ExploreQuery
  columns: Columns
  fields: readonly Field[]
  loadedEvents: readonly Event[]
  failure: unknown
  view: ViewRequest
  isBusy: boolean
  zone: Zone
  inputRef: RefObject<QueryFocus | null>
  setZone(zone: Zone): void
  refresh(): void
  toggleLive(): void
  onCancel(): void
}

/** Selects datasets, query and time range, and has one menu for the other actions. */
export function QueryBar(props: QueryBarProps) {
  const { params, change, query, columns, zone, setZone, refresh, toggleLive, onCancel } = props
  const isLive = params.live === true
  return (
    <div className="flex flex-wrap items-start gap-2 border-line border-b bg-panel px-3 py-2 max-sm:gap-1 max-sm:px-2 max-sm:py-1">
      <div className="flex w-full min-w-0 lg:order-2 lg:w-auto lg:flex-1">
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
      {/* In a narrow window these are one line below the query. On a phone their texts need the room of the carets. */}
      <div className="flex w-full min-w-0 gap-2 *:order-3 lg:contents max-sm:gap-1 max-sm:*:h-7 max-sm:[&_.caret]:hidden">
        <DatasetPicker picked={params.d} onPick={(d) => change((now) => optional({ ...now, d, cols: undefined }))} />
        <TimePicker range={query.range} zone={zone} onPick={(range) => change((now) => withRange(now, range))} onZone={setZone} />
        <Button aria-pressed={isLive} variant={isLive ? 'main' : 'plain'} title="Live (l)" onClick={toggleLive}>
          <Icon of={Radio} className={isLive ? 'animate-pulse motion-reduce:animate-none' : 'text-accent'} />
          Live
        </Button>
        <ActionsMenu {...{ params, change, query, columns, zone }} loadedEvents={props.loadedEvents} view={props.view} />
      </div>
    </div>
  )
}
