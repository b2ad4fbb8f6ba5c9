import type { Dataset, LineTime, LineTimeCandidate } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { count } from '../../parts/chart/numbers.ts'
import { Loaded } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted, useMay } from '../../parts/shell/permitted.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone
const timezones = [...new Set(['UTC', browserZone, ...Intl.supportedValuesOf('timeZone')])].map((name) => [name, name] as const)

/** Shows the times that recent lines tell, and makes one of them the time of the events. With `onlyOffers` it shows itself only when it helps. */
export function LineTimes({ dataset, onlyOffers = false }: { dataset: Dataset; onlyOffers?: boolean }) {
  const client = useClient()
  const may = useMay()
  const params = { datasetId: dataset.id }
  const [picked, setPicked] = useState<string>()
  const setting = useQuery({
    queryKey: ['datasets', dataset.id, 'line time'],
    queryFn: ({ signal }) => client.lineTimes.get({ params, signal }),
    enabled: may('parsers_read'),
  })
  const lineTime = setting.data?.line_time ?? undefined
  const timezone = picked ?? lineTime?.timezone ?? 'UTC'
  const preview = useQuery({
    queryKey: ['datasets', dataset.id, 'line time', 'preview', timezone],
    queryFn: ({ signal }) => client.lineTimes.preview({ params, query: { timezone }, signal }),
    enabled: may('search_read') && setting.data !== undefined && !dataset.is_system_generated,
    placeholderData: (before) => before,
    refetchInterval: false,
  })
  if (!may('parsers_read') || dataset.is_system_generated) return null
  const offers = preview.data?.candidates.filter(({ matched, unchanged }) => unchanged < matched) ?? []
  if (onlyOffers && (lineTime !== undefined || offers.length === 0)) return null
  return (
    <Panel title="Timestamp of lines">
      <Loaded of={setting}>{() => <Setting dataset={dataset} lineTime={lineTime} hasOffers={offers.length > 0} />}</Loaded>
      {preview.error && <FailureNote thrown={preview.error} again={preview.refetch} />}
      {!lineTime && preview.data && offers.length === 0 && (
        <p className="px-3 pb-3 text-soft">
          {preview.data.lines === 0 ? 'No lines arrived in the last week.' : 'Recent lines contain no other timestamp.'}
        </p>
      )}
      {!lineTime && offers.length > 0 && (
        <>
          <Field name="Time zone of timestamps without one" className="max-w-64 px-3 pb-2">
            <Select value={timezone} options={timezones} onPick={setPicked} />
          </Field>
          {offers.some(({ is_ambiguous }) => is_ambiguous) && (
            <p className="px-3 pb-2 text-warn">
              <Icon of={TriangleAlert} size="small" className="inline" /> The order of day, month and year is ambiguous. Choose the reading
              whose times are right.
            </p>
          )}
          <ul aria-label="Timestamps found" className="flex flex-col border-line border-t *:border-line [&>*+*]:border-t">
            {offers.map((offer) => (
              <Offer
                key={`${offer.format} ${offer.word}`}
                dataset={dataset}
                offer={offer}
                timezone={timezone}
                lines={preview.data?.lines ?? 0}
              />
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}

type SettingProps = { dataset: Dataset; lineTime: LineTime | undefined; hasOffers: boolean }

function Setting({ dataset, lineTime, hasOffers }: SettingProps) {
  const client = useClient()
  const remove = useSave(() => client.lineTimes.remove({ params: { datasetId: dataset.id } }), { stale: [['datasets', dataset.id]] })
  if (!lineTime) {
    return (
      <p className="p-3">
        {hasOffers
          ? 'The lines contain a timestamp, but the events have the time of arrival or of the sender.'
          : 'Events have the timestamp of a known format, of the sender, or of arrival.'}
      </p>
    )
  }
  return (
    <div className="flex flex-wrap items-center gap-3 p-3">
      <p>
        Events have the timestamp of their line: <code className="font-mono">{lineTime.format}</code>
        {lineTime.word > 0 && `, after ${count(lineTime.word)} ${lineTime.word === 1 ? 'word' : 'words'}`}, {lineTime.timezone}.
      </p>
      <Permitted to="parsers_write">
        <Button size="small" disabled={remove.isPending} onClick={() => remove.mutate()}>
          Turn off
        </Button>
      </Permitted>
      {remove.error && <FailureNote thrown={remove.error} />}
    </div>
  )
}

type OfferProps = { dataset: Dataset; offer: LineTimeCandidate; timezone: string; lines: number }

function Offer({ dataset, offer, timezone, lines }: OfferProps) {
  const client = useClient()
  const { format, word, matched, samples, has_year, has_timezone } = offer
  const use = useSave(() => client.lineTimes.set({ params: { datasetId: dataset.id }, body: { format, word, timezone } }), {
    stale: [['datasets', dataset.id]],
  })
  return (
    <li aria-label={format} className="flex flex-col gap-2 p-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <code className="font-mono font-medium">{format}</code>
        <span className="text-soft text-xs">
          in {count(matched)} of {count(lines)} recent lines
          {has_timezone && ' · with time zone'}
          {!has_year && ' · without a year: the year nearest to arrival is used'}
        </span>
        <span className="ml-auto">
          <Permitted to="parsers_write">
            <Button size="small" variant="main" disabled={use.isPending} onClick={() => use.mutate()}>
              Use this timestamp
            </Button>
          </Permitted>
        </span>
      </div>
      <ul className="flex flex-col gap-1">
        {samples.slice(0, 3).map((sample) => (
          <Sample key={`${sample.line} ${sample.stored_time}`} sample={sample} />
        ))}
      </ul>
      {use.error && <FailureNote thrown={use.error} />}
    </li>
  )
}

/** Shows a line with its time marked, and the time that it would get. */
function Sample({ sample: { line, start, end, time } }: { sample: LineTimeCandidate['samples'][number] }) {
  const [zone] = useZone()
  const { day, clock } = clockOf(time, zone)
  return (
    <li className="grid gap-x-3 sm:grid-cols-[auto_minmax(0,1fr)]">
      <time className="whitespace-nowrap tabular-nums" dateTime={new Date(time).toISOString()}>
        {day} {clock} {zone === 'utc' ? 'UTC' : ''}
      </time>
      <code className="truncate font-mono text-soft text-xs leading-5">
        {line.slice(0, start)}
        <mark className="rounded bg-tint text-ink">{line.slice(start, end)}</mark>
        {line.slice(end)}
      </code>
    </li>
  )
}
