import type { Event, ExportCompression, ExportFormat } from '@dendro/api'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useClient } from '../../../parts/client.ts'
import { useDatasets } from '../../../parts/datasets.ts'
import { FailureNote } from '../../../parts/failure.tsx'
import { quantity } from '../../../parts/numbers.ts'
import { timeRangeOf } from '../../../parts/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Select } from '../../../ui/field.tsx'
import { Popover } from '../../../ui/popover.tsx'
import { type ExploreQuery, filterOf, sourceOf } from '../query/explore-query.ts'
import { csvOf, FIELDS_MAX, ndjsonOf } from './event-files.ts'

type ExportMenuProps = { query: ExploreQuery; loadedEvents: readonly Event[] }

const formats: readonly (readonly [ExportFormat, string])[] = [
  ['ndjson', 'Lines of JSON'],
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
]
const compressions: readonly (readonly [ExportCompression, string])[] = [
  ['none', 'as it is'],
  ['gzip', 'gzip'],
  ['zstd', 'zstd'],
]

/** ExportMenu gives what is loaded at once, and orders a file of everything that matches. */
export function ExportMenu({ query, loadedEvents }: ExportMenuProps) {
  const { byId } = useDatasets()
  const datasetNames = (id: string) => byId.get(id)
  return (
    <Popover label="Export" trigger={<Button title="Take the events away in a file">Export</Button>}>
      <div className="flex w-72 max-w-full flex-col gap-3">
        <section aria-label="What is loaded" className="flex flex-col gap-1">
          <p>What is loaded now: {quantity(loadedEvents.length, 'event')}</p>
          <div className="flex gap-1">
            <Button
              disabled={loadedEvents.length === 0}
              onClick={() => download('events.ndjson', 'application/x-ndjson', ndjsonOf(loadedEvents, datasetNames))}
            >
              Lines of JSON
            </Button>
            <Button
              disabled={loadedEvents.length === 0}
              onClick={() => download('events.csv', 'text/csv', csvOf(loadedEvents, datasetNames))}
            >
              CSV
            </Button>
          </div>
          <p className="text-soft text-xs">CSV has the whole line, and columns for at most {FIELDS_MAX} keys.</p>
        </section>
        <ExportAll query={query} />
      </div>
    </Popover>
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
    <section aria-label="Everything" className="flex flex-col gap-2 border-line border-t pt-2">
      <p>Everything that matches, as a file that is made in the background</p>
      <div className="grid grid-cols-2 gap-2">
        <Field name="Format">
          <Select value={format} options={formats} onPick={(next) => setFormat(next)} />
        </Field>
        <Field name="Compressed">
          <Select
            value={format === 'parquet' ? 'none' : compression}
            options={compressions}
            disabled={format === 'parquet'}
            onPick={(next) => setCompression(next)}
          />
        </Field>
      </div>
      <Button look="main" className="self-start" disabled={startExport.isPending} onClick={() => startExport.mutate()}>
        {startExport.isPending ? 'Ordering it …' : 'Export everything'}
      </Button>
      {startExport.error && <FailureNote thrown={startExport.error} />}
    </section>
  )
}

/** save hands a text to the browser as a file. */
function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
