import type { Dataset } from '@dendro/api'
import { quoted } from '@dendro/language/language-error'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { count, share } from '../../parts/chart/numbers.ts'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Input } from '../../ui/field.tsx'

const KEYS_MAX = 1_000
const VALUES_SHOWN = 5

/** Lists the fields of the newest events, with their frequency and most frequent values. */
export function DatasetFields({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const [filter, setFilter] = useState('')
  const read = useQuery({
    queryKey: ['keys of', dataset.id],
    queryFn: async ({ signal }) => {
      const query = { log_id: [dataset.id], time_range: 'Last 7 days', limit: KEYS_MAX }
      const keys = Object.entries((await client.topKeys.get({ query, signal }))[dataset.id] ?? {})
      return { keys: keys.toSorted(([, a], [, b]) => b.rank - a.rank), most: Math.max(1, ...keys.map(([, { rank }]) => rank)) }
    },
  })
  const isFound = (name: string) => name.toLowerCase().includes(filter.trim().toLowerCase())
  return (
    <Panel
      title="Fields of the newest events"
      actions={
        <>
          {read.data && <span className="text-soft text-xs">from a sample of {count(read.data.most)}, of the last 7 days</span>}
          <Input
            aria-label="Find a field"
            placeholder="Find a field"
            className="max-w-56"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        </>
      }
    >
      <Loaded of={read}>
        {({ keys, most }) => (
          <>
            <Rows
              label="Fields"
              columns={['Field', 'Type', 'Share of events', 'Most frequent values']}
              empty={keys.length === 0 ? 'No events in the last 7 days.' : 'No field matches.'}
            >
              {keys
                .filter(([name]) => isFound(name))
                .map(([name, { rank, type, values }]) => (
                  <Row
                    key={name}
                    cells={[
                      <code key="name" className="block min-w-32 break-words font-mono text-xs">
                        {name}
                      </code>,
                      <span key="type" className="text-soft">
                        {types[type]}
                      </span>,
                      <Share key="share" part={rank} all={most} />,
                      <Values key="values" id={dataset.id} name={name} values={Object.values(values)} />,
                    ]}
                  />
                ))}
            </Rows>
            {keys.length >= KEYS_MAX && <TruncationNote>Only the {count(KEYS_MAX)} most frequent fields are shown.</TruncationNote>}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

const types = { STRING: 'text', NUMBER: 'number', BOOLEAN: 'boolean' } as const

function Share({ part, all }: { part: number; all: number }) {
  return (
    <span className="flex items-center gap-2 whitespace-nowrap tabular-nums">
      <span aria-hidden className="h-2 w-16 overflow-hidden rounded-sm bg-sunk">
        <span className="block h-full bg-bar-info" style={{ width: `${(100 * part) / all}%` }} />
      </span>
      {share(part, all)}
    </span>
  )
}

/** Values link to their events. */
function Values({ id, name, values }: { id: string; name: string; values: readonly { value: string; rank: number }[] }) {
  const key = /^[A-Za-z_@$][\w.@$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
  return (
    <ul className="flex flex-wrap gap-1">
      {values
        .toSorted((a, b) => b.rank - a.rank)
        .slice(0, VALUES_SHOWN)
        .map(({ value, rank }) => (
          <li key={value} className="max-w-full">
            <Link
              to="/explore"
              search={{ d: [id], r: 'Last 7 days', q: `${key} = ${quoted(value)}` }}
              title={`${count(rank)} events of the sample. Show events`}
              className="block max-w-60 truncate rounded border border-line px-1 font-mono text-xs hover:border-soft"
            >
              {value === '' ? '(empty)' : value.slice(0, 200)}
            </Link>
          </li>
        ))}
    </ul>
  )
}
