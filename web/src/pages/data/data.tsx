import type { Dataset } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useClient } from '../../parts/client.ts'
import { copyText } from '../../parts/copy.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { ago } from '../../parts/numbers.ts'
import { Button } from '../../ui/button.tsx'

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
  const address = location.origin
  const ways = [
    {
      name: 'curl',
      text: `curl -H "X-SERVICE-API-KEY: $DENDRO_API_KEY" -H 'x-service-dataset: web' ${address}/ingest -d '{"message": "hello"}'`,
    },
    {
      name: 'OpenTelemetry Collector',
      text: `exporters:\n  otlphttp/dendro:\n    endpoint: ${address}\n    headers:\n      X-SERVICE-API-KEY: \${env:DENDRO_API_KEY}`,
    },
    {
      name: 'rsyslog',
      text: `module(load="omelasticsearch")\naction(type="omelasticsearch" server="${location.hostname}" serverport="${location.port || '443'}"\n  bulkmode="on" searchIndex="syslog" uid="key" pwd="YOUR KEY")`,
    },
  ]
  return (
    <section aria-live="polite" className="flex max-w-3xl flex-col gap-3">
      <p>
        <strong>Waiting for the first event.</strong> <span className="text-soft">It will show up here within seconds of arriving.</span>
      </p>
      {ways.map(({ name, text }) => (
        <div key={name} className="rounded-md border border-line bg-panel p-3">
          <div className="mb-1 flex items-center justify-between">
            <h2 className="font-medium">{name}</h2>
            <Button onClick={() => copyText(text)}>Copy</Button>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard too */}
          <pre tabIndex={0} className="overflow-x-auto rounded bg-sunk p-2 font-mono text-xs">
            {text}
          </pre>
        </div>
      ))}
    </section>
  )
}
