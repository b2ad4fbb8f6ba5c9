import { useState } from 'react'
import { fullName, useDatasetSearch } from '../../parts/datasets/datasets.ts'
import { useSettled } from '../../parts/query/settled.ts'
import { MorePages, searchOf, usePages } from '../../parts/records/pages.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Input } from '../../ui/field.tsx'
import { useNames } from './names.ts'

/** The pause in typing after which the service searches. */
const SETTLE_MS = 200

type ScopeProps = { from: readonly string[]; onFrom(from: string[]): void }

/** Selects monitors and datasets, which are found by a search and read page by page. */
export function Scope({ from, onFrom }: ScopeProps) {
  const client = useClient()
  const nameOf = useNames(from)
  const [find, setFind] = useState('')
  const search = searchOf(useSettled(find, SETTLE_MS))
  const monitors = usePages({
    queryKey: ['monitors', 'choices', search],
    read: (page, signal) => client.monitors.list({ query: { ...page, ...search, sort: 'name' }, signal }),
  })
  const datasets = useDatasetSearch(find)
  const lists = [
    {
      title: 'Monitors',
      list: monitors,
      all: monitors.data?.pages.flatMap((page) => page.monitors).map(({ id, name }) => ({ id, name })),
    },
    {
      title: 'All monitors of a dataset',
      list: datasets,
      all: datasets.data && datasets.records.map((dataset) => ({ id: dataset.id, name: fullName(dataset) })),
    },
  ]
  const listed = new Set(lists.flatMap(({ all = [] }) => all.map(({ id }) => id)))
  const others = from.filter((id) => !listed.has(id)).map((id) => ({ id, name: nameOf(id) }))
  const toggle = (id: string) => onFrom(from.includes(id) ? from.filter((one) => one !== id) : [...from, id])
  return (
    <Panel title="Scope">
      <div className="grid gap-3 p-3 sm:grid-cols-2">
        <Input
          className="col-span-full sm:max-w-64"
          aria-label="Find a monitor or dataset"
          placeholder="Find a monitor or dataset"
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
        {others.length > 0 && (
          <div className="col-span-full">
            <Choices title="Selected" all={others} from={from} onToggle={toggle} />
          </div>
        )}
        {lists.map(({ title, list, all }) => (
          <div key={title} className="min-w-0">
            <Loaded of={{ ...list, data: all }}>{(found) => <Choices title={title} all={found} from={from} onToggle={toggle} />}</Loaded>
            <MorePages of={list} />
          </div>
        ))}
      </div>
    </Panel>
  )
}

type Choice = { readonly id: string; readonly name: string }
type ChoicesProps = { title: string; all: readonly Choice[]; from: readonly string[]; onToggle(id: string): void }

const Choices = ({ title, all, from, onToggle }: ChoicesProps) => (
  <fieldset className="min-w-0">
    <legend className="text-soft text-xs">{title}</legend>
    <div className="flex max-h-60 flex-col overflow-auto">
      {all.length === 0 && <span className="text-soft">none found</span>}
      {all.map(({ id, name }) => (
        <label key={id} className="flex items-center gap-2 py-0.5">
          <input type="checkbox" checked={from.includes(id)} onChange={() => onToggle(id)} />
          <span className="truncate">{name}</span>
        </label>
      ))}
    </div>
  </fieldset>
)
