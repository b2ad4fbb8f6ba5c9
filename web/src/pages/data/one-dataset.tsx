import type { Dataset } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { systemText } from '../../parts/datasets/system-datasets.ts'
import { MissingRecord } from '../../parts/records/records.tsx'
import { BackToDatasets } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Loading, Page } from '../../parts/shell/page.tsx'
import { useScrollToCurrent } from '../../parts/shell/scroll-to-current.ts'
import { buttonClass } from '../../ui/button.tsx'
import { DatasetFields } from './dataset-fields.tsx'
import { DatasetSettings } from './dataset-settings.tsx'
import { Freshness } from './freshness.tsx'
import { Overview } from './overview.tsx'
import { type DatasetPart, datasetParts } from './params.ts'
import { ParserPart } from './parser.tsx'
import { Sending } from './sending.tsx'

const REFRESH_MS = 3_000

const parts = {
  overview: { name: 'Overview', Part: Overview },
  keys: { name: 'Fields', Part: DatasetFields },
  parser: { name: 'Parser', Part: ParserPart },
  care: { name: 'Settings', Part: DatasetSettings },
  sending: { name: 'Sending', Part: Sending },
} satisfies Record<DatasetPart, { name: string; Part: ComponentType<{ dataset: Dataset }> }>

/** Shows the tabs of a dataset. */
export function OneDataset({ id }: { id: string }) {
  const client = useClient()
  const { part = 'overview' } = useSearch({ from: '/inside/data' })
  const read = useQuery({
    queryKey: ['datasets', id],
    queryFn: ({ signal }) => client.datasets.get({ params: { datasetId: id }, signal }),
    refetchInterval: REFRESH_MS,
  })
  const dataset = read.data
  const { Part } = parts[part]
  const row = useScrollToCurrent(part)
  if (read.error && !dataset) return <MissingRecord title="Dataset" noun="dataset" of={read} back={<BackToDatasets />} />
  return (
    <Page
      title={dataset ? `${dataset.collection} / ${dataset.dataset}` : 'Dataset'}
      back={<BackToDatasets />}
      actions={
        <>
          {dataset && <Freshness lastMs={dataset.metadata.last_heartbeat_at} nowMs={Date.now()} />}
          <Link to="/explore" search={{ d: [id] }} className={buttonClass({ variant: 'main' })}>
            Explore
          </Link>
        </>
      }
    >
      {dataset && systemText(dataset.collection) && <p className="-mt-3 text-soft">{systemText(dataset.collection)}.</p>}
      <nav ref={row} aria-label="Dataset" className="flex gap-1 overflow-x-auto border-line border-b pb-1">
        {datasetParts.map((one) => (
          <Link
            key={one}
            to="/data"
            search={one === 'overview' ? { id } : { id, part: one }}
            activeOptions={{ exact: true }}
            aria-current={one === part ? 'page' : undefined}
            className="whitespace-nowrap rounded px-2 py-1 text-soft hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:text-ink"
          >
            {parts[one].name}
          </Link>
        ))}
      </nav>
      {!dataset && <Loading height="20rem" />}
      {dataset && <Part dataset={dataset} />}
    </Page>
  )
}
