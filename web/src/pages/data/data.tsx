import type { Dataset } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { ago } from '../../parts/numbers.ts'
import { Shippers } from '../../parts/shippers.tsx'

const LOOK_EVERY_MS = 3_000

/** DataPage shows what is sent here and how fresh it is; before the first event it waits for it and says how to send one. */
export function DataPage() {
  const client = useClient()
  const list = useQuery({
    queryKey: ['datasets'],
    queryFn: ({ signal }) => client.datasets.list({ signal }),
    refetchInterval: LOOK_EVERY_MS,
  })
  if (list.error && !list.data) return <FailureNote thrown={list.error} again={() => list.refetch()} />
  if (!list.data) return <p className="p-6 text-soft">Reading the datasets …</p>
  const datasets = list.data.datasets.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return (
    <div className="h-full overflow-auto p-4">
      <h1 className="mb-3 font-semibold text-lg">Data</h1>
      {datasets.some(({ metadata }) => metadata.last_heartbeat_at !== undefined) ? <Datasets datasets={datasets} /> : <HowToSend />}
    </div>
  )
}

const nameOf = ({ collection, dataset }: Dataset): string => `${collection} / ${dataset}`

function Datasets({ datasets }: { datasets: readonly Dataset[] }) {
  const nowMs = Date.now()
  return (
    <div className="overflow-x-auto rounded-md border border-line bg-panel">
      <table className="w-full">
        <thead className="text-left text-soft text-xs">
          <tr>
            <th className="px-3 py-2 font-medium">Collection</th>
            <th className="px-3 py-2 font-medium">Dataset</th>
            <th className="px-3 py-2 font-medium">Last event</th>
            <th className="px-3 py-2 font-medium">Retention</th>
            <th className="px-3 py-2">
              <span className="sr-only">Look</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {datasets.map((dataset) => (
            <tr key={dataset.id} className="border-line border-t">
              <td className="px-3 py-1.5 text-soft">{dataset.collection}</td>
              <td className="px-3 py-1.5">{dataset.dataset}</td>
              <td className="px-3 py-1.5 tabular-nums">
                {dataset.metadata.last_heartbeat_at === undefined ? (
                  <span className="text-soft">never</span>
                ) : (
                  ago(dataset.metadata.last_heartbeat_at, nowMs)
                )}
              </td>
              <td className="px-3 py-1.5 text-soft">{dataset.retention ?? 'as the organisation'}</td>
              <td className="px-3 py-1.5 text-right">
                <Link to="/explore" search={{ d: [dataset.id] }} className="text-accent hover:underline">
                  Explore
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function HowToSend() {
  return (
    <section aria-live="polite" className="flex max-w-3xl flex-col gap-3">
      <p>
        <strong>Waiting for the first event.</strong> <span className="text-soft">It will show up here within seconds of arriving.</span>{' '}
        <Link to="/welcome" className="text-accent underline">
          Begin with demo data, or a key for shippers
        </Link>
      </p>
      <Shippers />
    </section>
  )
}
