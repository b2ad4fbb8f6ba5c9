import type { Dataset } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, CircleDashed, CircleMinus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Popover } from '../../ui/popover.tsx'
import { ago } from '../chart/numbers.ts'
import { MorePages } from '../records/pages.tsx'
import { FailureNote } from '../shell/failure.tsx'
import { DATASET_CHOICES, fullName, useDatasetSearch, useDatasetsById } from './datasets.ts'
import { systemText } from './system-datasets.ts'

type DatasetPickerProps = {
  /** picked are ids; undefined means all. */
  picked: readonly string[] | undefined
  onPick(picked: string[] | undefined): void
  /** onSelector is offered where a selector expression is allowed. */
  onSelector?: (() => void) | undefined
}

const NONE: readonly string[] = []

/** Selects all or some datasets, which are found by a search. */
export function DatasetPicker({ picked, onPick, onSelector }: DatasetPickerProps) {
  const [find, setFind] = useState('')
  const queries = useQueryClient()
  return (
    <Popover
      label="Datasets"
      // The list shows how fresh each dataset is, so it is reloaded when it opens.
      onOpenChange={(isOpen) => isOpen && void queries.invalidateQueries({ queryKey: DATASET_CHOICES })}
      trigger={
        <Button title="Datasets to search" className="order-1! min-w-0 max-sm:shrink">
          <span className="max-w-56 truncate">
            <Label picked={picked} />
          </span>{' '}
          <Caret />
        </Button>
      }
    >
      <div className="flex w-80 max-w-full flex-col gap-2">
        <input
          className="h-8 rounded border border-line bg-ground px-2"
          placeholder="Find a dataset"
          aria-label="Find a dataset"
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
        <label className="flex items-center gap-2 px-1">
          <input type="checkbox" checked={picked === undefined} onChange={() => onPick(undefined)} /> All datasets
        </label>
        <Choices find={find} picked={picked ?? NONE} onPick={onPick} />
        {onSelector && (
          <Button size="small" variant="quiet" className="self-start" onClick={onSelector}>
            By a selector, such as environment = 'production'
          </Button>
        )}
      </div>
    </Popover>
  )
}

function Label({ picked }: Pick<DatasetPickerProps, 'picked'>) {
  const { nameOf } = useDatasetsById(picked ?? NONE)
  if (picked === undefined) return 'All datasets'
  const [first] = picked
  if (picked.length !== 1 || first === undefined) return `${picked.length} datasets`
  const name = nameOf(first, fullName)
  return <span title={name}>{name}</span>
}

type ChoicesProps = { find: string; picked: readonly string[]; onPick: DatasetPickerProps['onPick'] }

/** The datasets that the search finds, after those that are selected and not among them. */
function Choices({ find, picked, onPick }: ChoicesProps) {
  const found = useDatasetSearch(find)
  // What is deselected stays in view until the list closes.
  const [deselected, setDeselected] = useState<readonly string[]>([])
  const own = [...new Set([...deselected, ...picked])]
  const { byId } = useDatasetsById(own)
  const listed = new Set(found.records.map(({ id }) => id))
  const others = found.isWhole ? [] : own.filter((id) => !listed.has(id)).flatMap((id) => byId.get(id) ?? [])
  const toggle = (id: string) => {
    if (picked.includes(id)) setDeselected([...deselected, id])
    const next = picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id]
    onPick(next.length === 0 ? undefined : next)
  }
  return (
    <>
      {found.error && <FailureNote thrown={found.error} again={() => found.refetch()} isSmall />}
      <div className="max-h-72 overflow-auto">
        <ul aria-busy={found.isPlaceholderData}>
          {[...others, ...found.records].map((one) => (
            <Choice
              key={one.id}
              dataset={one}
              isPicked={picked.includes(one.id)}
              onToggle={() => toggle(one.id)}
              onOnly={() => onPick([one.id])}
            />
          ))}
          {found.isLoading && <li className="px-1 text-soft">Loading…</li>}
          {found.data && found.records.length === 0 && <li className="px-1 text-soft">No dataset matches.</li>}
        </ul>
        <MorePages of={found} {...(found.totals ? { rest: found.totals.found - found.records.length } : {})} />
      </div>
    </>
  )
}

type ChoiceProps = { dataset: Dataset; isPicked: boolean; onToggle(): void; onOnly(): void }

const Choice = ({ dataset: { collection, dataset, metadata }, isPicked, onToggle, onOnly }: ChoiceProps) => (
  <li className="flex items-center gap-2 rounded px-1 hover:bg-tint">
    <label className="flex min-w-0 flex-1 items-center gap-2 py-0.5">
      <input type="checkbox" checked={isPicked} onChange={onToggle} />
      <span className="min-w-0 truncate">
        <span className="text-soft">{collection} /</span> {dataset}
        <span className="block whitespace-normal text-soft text-xs empty:hidden">{systemText(collection)}</span>
      </span>
    </label>
    <Freshness atMs={metadata.last_heartbeat_at} />
    <button type="button" className="px-1 text-accent text-xs" onClick={onOnly}>
      only
    </button>
  </li>
)

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
