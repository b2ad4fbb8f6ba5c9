import type { Event, ExportCompression, ExportFormat } from '@dendro/api'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { quantity } from '../../../parts/chart/numbers.ts'
import { useDatasetsById } from '../../../parts/datasets/datasets.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { saveFile } from '../../../parts/shell/save-file.ts'
import { timeRangeOf } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Select } from '../../../ui/field.tsx'
import { type ExploreQuery, filterOf, sourceOf } from '../query/explore-query.ts'
import { csvOf, FIELDS_MAX, ndjsonOf } from './event-files.ts'

type ExportMenuProps = { query: ExploreQuery; loadedEvents: readonly Event[] }

const formats: readonly (readonly [ExportFormat, string])[] = [
  ['ndjson', 'NDJSON'],
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
]
const compressions: readonly (readonly [ExportCompression, string])[] = [
  ['none', 'None'],
  ['gzip', 'gzip'],
  ['zstd', 'zstd'],
]

/** Downloads the loaded events, or starts an export of all matching events. */
export function ExportMenu({ query, loadedEvents }: ExportMenuProps) {
  const { byId } = useDatasetsById(loadedEvents.map(({ metadata }) => metadata.service_id))
  const datasetNames = (id: string) => byId.get(id)
  return (
    <div className="flex w-72 max-w-full flex-col gap-3">
      <section aria-label="Loaded events" className="flex flex-col gap-1">
        <p>Loaded: {quantity(loadedEvents.length, 'event')}</p>
        <div className="flex gap-1">
          <Button
            disabled={loadedEvents.length === 0}
            onClick={() => saveFile('events.ndjson', 'application/x-ndjson', ndjsonOf(loadedEvents, datasetNames))}
          >
            NDJSON
          </Button>
          <Button
            disabled={loadedEvents.length === 0}
            onClick={() => saveFile('events.csv', 'text/csv', csvOf(loadedEvents, datasetNames))}
          >
            CSV
          </Button>
        </div>
        <p className="text-soft text-xs">CSV contains the whole line and columns for at most {FIELDS_MAX} fields.</p>
      </section>
      <Permitted to="exports_write">
        <ExportAll query={query} />
      </Permitted>
    </div>
  )
}

function ExportAll({ query }: { query: ExploreQuery }) {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [format, setFormat] = useState<ExportFormat>('ndjson')
  const [compression, setCompression] = useState<ExportCompression>('none')
  const startExport = useMutation({
    mutationFn: () =>
      client.exports.create({
        body: {
          search_details: { ...sourceOf(query), ...filterOf(query), ...timeRangeOf(query.range) },
          format,
          compression: format === 'parquet' ? 'none' : compression,
        },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['exports'] })
      await navigate({ to: '/exports', search: {} })
    },
  })
  return (
    <section aria-label="All matching events" className="flex flex-col gap-2 border-line border-t pt-2">
      <p>All matching events, exported in the background</p>
      <div className="grid grid-cols-2 gap-2">
        <Field name="Format">
          <Select value={format} options={formats} onPick={(next) => setFormat(next)} />
        </Field>
        <Field name="Compression">
          <Select
            value={format === 'parquet' ? 'none' : compression}
            options={compressions}
            disabled={format === 'parquet'}
            onPick={(next) => setCompression(next)}
          />
        </Field>
      </div>
      <Button variant="main" className="self-start" disabled={startExport.isPending} onClick={() => startExport.mutate()}>
        {startExport.isPending ? 'Starting…' : 'Export all'}
      </Button>
      {startExport.error && <FailureNote thrown={startExport.error} />}
    </section>
  )
}
