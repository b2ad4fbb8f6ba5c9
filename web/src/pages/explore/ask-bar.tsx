import type { Event } from '@dendro/api'
import type { RefObject } from 'react'
import { DatasetPicker, type PickedDataset } from '../../parts/dataset-picker.tsx'
import type { QueryFocus } from '../../parts/query-input.tsx'
import { TimePicker } from '../../parts/time-picker.tsx'
import type { Zone } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { type Asked, optional, withQuery, withRange } from './asked.ts'
import type { Columns } from './columns.ts'
import { ExportMenu } from './export-menu.tsx'
import { GoOn } from './go-on.tsx'
import { HistoryMenu } from './history-menu.tsx'
import { QueryLine } from './query-line.tsx'
import type { Field, Question } from './questions.ts'
import type { Shown } from './request.ts'
import { Saved } from './saved.tsx'
import { Share } from './share.tsx'
import type { Change } from './state.ts'

type AskBarProps = {
  asked: Asked
  change: Change
  question: Question
  columns: Columns
  datasets: readonly PickedDataset[]
  fields: readonly Field[]
  /** found are the events that are loaded. */
  found: readonly Event[]
  failure: unknown
  shown: Shown
  nameOf(id: string): string
  isBusy: boolean
  zone: Zone
  inputRef: RefObject<QueryFocus | null>
  setZone(zone: Zone): void
  askAgain(): void
  turnLive(): void
  onCancel(): void
}

/** AskBar is the question: where, what and when, and what becomes of it. */
export function AskBar(props: AskBarProps) {
  const { asked, change, question, columns, zone, setZone, askAgain, turnLive, onCancel } = props
  const isLive = asked.live === true
  return (
    <div className="flex flex-wrap items-start gap-2 border-line border-b bg-panel px-3 py-2 max-sm:gap-1 max-sm:[&>button]:h-7 max-sm:[&>button]:px-2 max-sm:[&>button]:text-xs">
      <DatasetPicker all={props.datasets} picked={asked.d} onPick={(d) => change((now) => optional({ ...now, d, cols: undefined }))} />
      <div className="order-last flex w-full min-w-0 lg:order-none lg:w-auto lg:flex-1">
        <QueryLine
          query={asked.q ?? ''}
          off={asked.off ?? []}
          failure={props.failure}
          fields={props.fields}
          isBusy={props.isBusy}
          inputRef={props.inputRef}
          onQuery={(q, off) => change((now) => optional({ ...withQuery(now, q), off: off ? [...off] : now.off }))}
          onRun={askAgain}
          onCancel={onCancel}
        />
      </div>
      <TimePicker range={question.range} zone={zone} onPick={(range) => change((now) => withRange(now, range))} onZone={setZone} />
      <Button aria-pressed={isLive} look={isLive ? 'main' : 'plain'} title="Live (l)" onClick={turnLive}>
        Live
      </Button>
      <Saved asked={asked} columns={columns.names} onOpen={(next) => change(() => next)} />
      <HistoryMenu zone={zone} nameOfDataset={props.nameOf} onOpen={change} />
      <Share asked={asked} columns={columns.names} shown={props.shown} />
      <ExportMenu question={question} found={props.found} />
      <GoOn asked={asked} />
    </div>
  )
}
