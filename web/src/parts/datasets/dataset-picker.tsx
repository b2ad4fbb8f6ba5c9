import { useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, CircleDashed, CircleMinus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Popover } from '../../ui/popover.tsx'
import { ago } from '../chart/numbers.ts'
import { hasWords } from '../records/has-words.ts'
import { unknownDataset } from './datasets.ts'
import { systemText } from './system-datasets.ts'

export type PickedDataset = { id: string; collection: string; dataset: string; metadata?: { last_heartbeat_at?: number } }

type DatasetPickerProps = {
  all: readonly PickedDataset[]
  /** picked are ids; undefined means all. */
  picked: readonly string[] | undefined
  onPick(picked: string[] | undefined): void
  /** onSelector is offered where a selector expression is allowed. */
  onSelector?: (() => void) | undefined
}

/** Selects all or some datasets, with a text filter. */
export function DatasetPicker({ all, picked, onPick, onSelector }: DatasetPickerProps) {
  const [filter, setFilter] = useState('')
  const queries = useQueryClient()
  const shown = all
    .filter(({ collection, dataset }) => hasWords(`${collection}/${dataset}`, filter))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const isPicked = (id: string) => picked?.includes(id) ?? false
  const toggle = (id: string) => {
    const next = isPicked(id) ? (picked ?? []).filter((one) => one !== id) : [...(picked ?? []), id]
    onPick(next.length === 0 ? undefined : next)
  }
  return (
    <Popover
      label="Datasets"
      // The list shows how fresh each dataset is, so it is reloaded when it opens.
      onOpenChange={(isOpen) => isOpen && void queries.invalidateQueries({ queryKey: ['datasets'] })}
      trigger={
        <Button title="Datasets to search" className="order-1! min-w-0 max-sm:shrink">
          <span className="max-w-56 truncate">{labelOf(all, picked)}</span> <Caret />
        </Button>
      }
    >
      <div className="flex w-80 max-w-full flex-col gap-2">
        <input
          className="h-8 rounded border border-line bg-ground px-2"
          placeholder="Find a dataset"
          aria-label="Find a dataset"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <label className="flex items-center gap-2 px-1">
          <input type="checkbox" checked={picked === undefined} onChange={() => onPick(undefined)} /> All datasets
        </label>
        <ul className="max-h-72 overflow-auto">
          {shown.map((one) => (
            <li key={one.id} className="flex items-center gap-2 rounded px-1 hover:bg-tint">
              <label className="flex min-w-0 flex-1 items-center gap-2 py-0.5">
                <input type="checkbox" checked={isPicked(one.id)} onChange={() => toggle(one.id)} />
                <span className="min-w-0 truncate">
                  <span className="text-soft">{one.collection} /</span> {one.dataset}
                  <span className="block whitespace-normal text-soft text-xs empty:hidden">{systemText(one.collection)}</span>
                </span>
              </label>
              {one.metadata && <Freshness atMs={one.metadata.last_heartbeat_at} />}
              <button type="button" className="px-1 text-accent text-xs" onClick={() => onPick([one.id])}>
                only
              </button>
            </li>
          ))}
          {shown.length === 0 && <li className="px-1 text-soft">No dataset matches.</li>}
        </ul>
        {onSelector && (
          <Button size="small" variant="quiet" className="self-start" onClick={onSelector}>
            By a selector, such as environment = 'production'
          </Button>
        )}
      </div>
    </Popover>
  )
}

const FRESH_MS = 300_000
const DAY_MS = 86_400_000

/** Shows when a dataset last received data: a check while it receives, a sign of warning when silent, dashes if never. */
function Freshness({ atMs }: { atMs: number | undefined }) {
  const nowMs = Date.now()
  const ageMs = atMs === undefined ? undefined : nowMs - atMs
  const [icon, color] =
    ageMs === undefined
      ? [CircleDashed, 'text-soft']
      : ageMs < FRESH_MS
        ? [CircleCheck, 'text-accent']
        : [ageMs < DAY_MS ? CircleMinus : CircleAlert, 'text-soft']
  return (
    <span className="flex shrink-0 items-center gap-1 text-soft text-xs tabular-nums" title="Last data">
      <Icon of={icon} size="small" className={color} />
      {atMs === undefined ? 'never' : ago(atMs, nowMs)}
    </span>
  )
}

const nameOf = ({ collection, dataset }: PickedDataset): string => `${collection} / ${dataset}`

function labelOf(all: readonly PickedDataset[], picked: readonly string[] | undefined): string {
  if (picked === undefined) return 'All datasets'
  const [first] = all.filter(({ id }) => picked.includes(id))
  if (picked.length === 1) return first ? nameOf(first) : unknownDataset(all.length)
  return `${picked.length} datasets`
}
