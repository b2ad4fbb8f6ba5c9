import type { Export, ExportDetails } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, Clock, LoaderCircle, type LucideIcon, X } from 'lucide-react'
import { useState } from 'react'
import { ago, bytes, count } from '../../parts/chart/numbers.ts'
import { shortName, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { QueryText } from '../../parts/datasets/pattern-texts.tsx'
import { Confirm } from '../../parts/records/confirm.tsx'
import { FilterRow } from '../../parts/records/filter-row.tsx'
import { RecordList } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { nameOf as rangeName, type Zone } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'

const AT_WORK_MS = 1_500
const AT_REST_MS = 20_000
const isAtWork = ({ status }: Export): boolean => status === 'CREATED' || status === 'IN_PROGRESS'

/** Lists the exports with their progress, size, download link or failure. */
export function ExportsPage() {
  const client = useClient()
  const [zone] = useZone()
  const list = useQuery({
    queryKey: ['exports'],
    queryFn: async ({ signal }) => (await client.exports.list({ signal })).exports,
    refetchInterval: ({ state }) => (state.data?.some(isAtWork) ? AT_WORK_MS : AT_REST_MS),
  })
  const [only, setOnly] = useState<State>()
  const shown = (list.data ?? []).filter((one) => only === undefined || stateOf(one) === only)
  return (
    <Page title="Exports">
      {list.error && <FailureNote thrown={list.error} again={() => list.refetch()} />}
      {!list.data && !list.error && <Loading />}
      {list.data?.length === 0 && (
        <EmptyState title="No exports yet">
          <p className="text-soft">
            An export writes the events of a search to a file. <Permitted to="exports_write">Run a search and choose “Export”.</Permitted>
          </p>
          <Permitted to="exports_write">
            <Link to="/explore" search={{}} className={buttonClass({ variant: 'main' })}>
              Search in Explore
            </Link>
          </Permitted>
        </EmptyState>
      )}
      {list.data && list.data.length > 0 && (
        <>
          <div className="flex flex-wrap items-center gap-1">
            <FilterRow label="Show only">
              {states.map(([state, name]) => {
                const many = list.data.filter((one) => stateOf(one) === state).length
                return (
                  <Button
                    key={state}
                    variant={only === state ? 'chosen' : 'quiet'}
                    aria-pressed={only === state}
                    onClick={() => setOnly(only === state ? undefined : state)}
                  >
                    {name} <span className="tabular-nums">{many}</span>
                  </Button>
                )
              })}
            </FilterRow>
            <span className="ml-auto text-soft text-xs max-sm:ml-0 max-sm:px-1.5">
              Download links expire after an hour; reload the page for new ones.
            </span>
          </div>
          {shown.length === 0 && (
            <EmptyState title="No export matches">
              <Button onClick={() => setOnly(undefined)}>Show all</Button>
            </EmptyState>
          )}
          {shown.length > 0 && (
            <RecordList label="Exports">
              {shown.map((one) => (
                <Row key={one.export_id} one={one} zone={zone} />
              ))}
            </RecordList>
          )}
        </>
      )}
    </Page>
  )
}

const states = [
  ['work', 'In progress'],
  ['done', 'Complete'],
  ['failed', 'Failed'],
] as const
type State = (typeof states)[number][0]
const stateOf = (one: Export): State => (isAtWork(one) ? 'work' : one.status === 'FAILED' ? 'failed' : 'done')

const signs: Record<Export['status'], { name: string; icon: LucideIcon }> = {
  CREATED: { name: 'waiting', icon: Clock },
  IN_PROGRESS: { name: 'in progress', icon: LoaderCircle },
  COMPLETE: { name: 'complete', icon: Check },
  FAILED: { name: 'failed', icon: X },
}

/** How many datasets of an export are named; of more, the others are counted. */
const NAMED_MAX = 4

function Row({ one, zone }: { one: Export; zone: Zone }) {
  const client = useClient()
  const { status, progress, events, location, failure_detail, format, compression, search_details: details, created_at, export_id } = one
  const ids = details.from === '' ? [] : details.from.split(':')
  const { nameOf } = useDatasetsById(ids.slice(0, NAMED_MAX))
  const names = ids.slice(0, NAMED_MAX).map((id) => nameOf(id, shortName))
  const where =
    ids.length > NAMED_MAX
      ? `${names.slice(0, NAMED_MAX - 1).join(', ')} and ${ids.length - NAMED_MAX + 1} more datasets`
      : names.join(', ')
  const when =
    details.from_ts !== undefined && details.to_ts !== undefined
      ? rangeName({ fromMs: details.from_ts, toMs: details.to_ts }, zone)
      : (details.time_range ?? '')
  const repeat = useSave(() => client.exports.create({ body: { search_details: repeatedSearch(details), format, compression } }), {
    stale: [['exports']],
  })
  const remove = useSave(() => client.exports.remove({ params: { exportId: export_id } }), { stale: [['exports']] })
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-3 py-2">
      <div className="min-w-0 flex-1 basis-64">
        <p className="break-words font-medium">{where}</p>
        {details.where && (
          <p className="break-words font-mono text-xs">
            <QueryText text={details.where} />
          </p>
        )}
        <p className="text-soft text-xs tabular-nums">
          {when} · {format}
          {compression === 'none' ? '' : `, ${compression}`} · requested {ago(created_at, Date.now())}
        </p>
        {failure_detail && <p className="break-words text-error">{failure_detail}</p>}
        {repeat.error && <FailureNote thrown={repeat.error} />}
      </div>
      <div className="flex w-44 shrink-0 flex-col gap-1">
        <span className={`text-xs tabular-nums ${status === 'FAILED' ? 'text-error' : ''}`} role="status">
          <Icon of={signs[status].icon} size="small" /> {signs[status].name}
          {isAtWork(one) && ` ${progress} %`}
        </span>
        {isAtWork(one) && <progress className="h-1.5 w-full" value={progress} max={100} aria-label="Progress" />}
        <span className="text-soft text-xs tabular-nums">
          {count(events)} {events === 1 ? 'event' : 'events'} · {bytes(one.bytes)}
        </span>
      </div>
      <div className="flex items-center gap-2">
        {location !== '' && (
          <a href={location} download className="inline-flex h-6.5 items-center rounded bg-accent px-2 text-accent-ink text-xs">
            Download
          </a>
        )}
        {!isAtWork(one) && (
          <Permitted to="exports_write">
            <Button size="small" disabled={repeat.isPending} aria-label={`Repeat the export of ${where}`} onClick={() => repeat.mutate()}>
              {repeat.isPending ? 'Working…' : 'Repeat'}
            </Button>
          </Permitted>
        )}
        <Confirm
          action={isAtWork(one) ? 'Stop' : 'Delete'}
          size="small"
          needs="exports_delete"
          label={`${isAtWork(one) ? 'Stop' : 'Delete'} the export of ${where}`}
          message={isAtWork(one) ? 'Stop this export and delete its partial file?' : 'Delete this export and its file?'}
          onYes={() => remove.mutateAsync()}
        />
      </div>
    </li>
  )
}

/** The search of an earlier export, over the same datasets and range. */
const repeatedSearch = ({ from, from_expr, from_ts, to_ts, time_range, where }: ExportDetails) => ({
  ...(from === '' ? { from_expr } : { from }),
  ...(from_ts === undefined || to_ts === undefined ? { time_range } : { from_ts, to_ts }),
  ...(where ? { where } : {}),
})
