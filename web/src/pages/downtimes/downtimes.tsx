import type { Downtime } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Confirm } from '../../parts/records/confirm.tsx'
import { LinkedText } from '../../parts/records/linked-text.tsx'
import { recordsOf, searchOf, usePages, useSearched } from '../../parts/records/pages.tsx'
import { MissingRecord, RecordList } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { SearchedList } from '../../parts/records/searched-list.tsx'
import { BackToDowntimes, BackToMonitors } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { buttonClass } from '../../ui/button.tsx'
import { DowntimeEditor } from './editor.tsx'
import { useNames } from './names.ts'
import { phaseOf, spanText, upcoming, WALL_ZONE, whenText } from './times.ts'

/** Lists the downtimes and opens the editor. */
export function DowntimesPage() {
  const { edit, of } = useSearch({ from: '/inside/downtimes' })
  const client = useClient()
  const opened = edit === 'new' ? of : edit
  const one = useQuery({
    queryKey: ['downtimes', 'one', opened],
    enabled: opened !== undefined,
    queryFn: ({ signal }) => client.downtimes.get({ params: { downtimeId: opened ?? '' }, signal }),
  })
  const edited = one.data
  if (edit !== undefined && (edited || opened === undefined)) {
    const title = edit !== 'new' ? 'Edit downtime' : of === undefined ? 'New downtime' : 'Copy downtime'
    return <DowntimeEditor key={`${edit} ${of}`} downtime={edited} title={title} isCopy={edit === 'new'} />
  }
  if (edit !== undefined) return <MissingRecord title="Downtime" noun="downtime" of={one} back={<BackToDowntimes />} />
  const actions = (
    <Permitted to="monitors_write">
      <Link to="/downtimes" search={{ edit: 'new' }} className={buttonClass({ variant: 'main' })}>
        New downtime
      </Link>
    </Permitted>
  )
  return (
    <Page title="Downtimes" back={<BackToMonitors />} actions={actions}>
      <List />
    </Page>
  )
}

/** The downtimes that the service finds, those in progress first. */
function useFoundDowntimes(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: ['downtimes', 'list', search],
    read: (page, signal) => client.downtimes.list({ query: { sort: 'phase', ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ downtimes }) => downtimes)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

const phases = { now: 'active', planned: 'planned', repeats: 'recurring', over: 'over' } as const

function List() {
  const [find, setFind] = useState('')
  const list = useSearched(find, useFoundDowntimes, ({ name, description }: Downtime) => `${name} ${description}`)
  const nameOf = useNames(list.records.flatMap(({ from }) => from))
  const none = (
    <EmptyState title="No downtimes yet">
      <p className="text-soft">
        During a downtime, monitors are evaluated but send no notifications. Create one for a release or maintenance.
      </p>
      <Permitted to="monitors_write">
        <Link to="/downtimes" search={{ edit: 'new' }} className={buttonClass({ variant: 'main' })}>
          Create the first downtime
        </Link>
      </Permitted>
    </EmptyState>
  )
  return (
    <SearchedList noun="downtime" of={list} find={find} onFind={setFind} none={none}>
      {(downtimes) => (
        <RecordList label="Downtimes">
          {downtimes.map((downtime) => (
            <Row key={downtime.id} downtime={downtime} nameOf={nameOf} />
          ))}
        </RecordList>
      )}
    </SearchedList>
  )
}

const DOWNTIMES = { stale: [['downtimes']] }

function Row({ downtime, nameOf }: { downtime: Downtime; nameOf(id: string): string }) {
  const client = useClient()
  const [zone] = useZone()
  const { id, name, description, from, alert_strategy, suppress_recovery_alert } = downtime
  const phase = phaseOf(downtime, Date.now())
  const end = useSave(async () => {
    const { static_time_range: fixed } = downtime
    if (!fixed) return
    const body = { name, description, from, alert_strategy, suppress_recovery_alert }
    const to = Math.max(fixed.from + 1, Date.now())
    await client.downtimes.update({ params: { downtimeId: id }, body: { ...body, static_time_range: { from: fixed.from, to } } })
  }, DOWNTIMES)
  const remove = useSave(() => client.downtimes.remove({ params: { downtimeId: id } }), DOWNTIMES)
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 px-3 py-2">
      <span
        className={`w-20 shrink-0 rounded max-sm:mr-auto px-1.5 text-center text-xs ${phase === 'now' ? 'bg-accent text-accent-ink' : 'bg-tint'}`}
      >
        {phases[phase]}
      </span>
      <div className="min-w-0 flex-1 max-sm:order-last max-sm:basis-full">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <Link to="/downtimes" search={{ edit: id }} className="break-words font-medium hover:underline">
            {name}
          </Link>
          <span className="text-soft tabular-nums">{whenText(downtime, zone)}</span>
          {downtime.dynamic_time_range && <span className="text-soft text-xs">in {WALL_ZONE}</span>}
        </p>
        {downtime.dynamic_time_range && (
          <p className="text-soft text-xs tabular-nums">
            {phase === 'now' ? 'until' : 'next'} {nextText(downtime, zone, phase === 'now')}
          </p>
        )}
        <p className="break-words text-soft text-xs">
          <LinkedText text={description} />
        </p>
        <p className="break-words text-soft text-xs">
          {from.map(nameOf).join(', ')} ·{' '}
          {alert_strategy === 'DELAY' ? 'notifications sent at the end if the status is unchanged' : 'notifications dropped'}
          {suppress_recovery_alert && ' · recoveries suppressed too'}
        </p>
      </div>
      {phase === 'now' && downtime.static_time_range && (
        <Confirm
          action="End"
          size="small"
          needs="monitors_write"
          label={`End ${name}`}
          message={`End “${name}” now? Suppressed notifications are sent then.`}
          onYes={() => end.mutateAsync()}
        />
      )}
      <Permitted to="monitors_write">
        <Link to="/downtimes" search={{ edit: 'new', of: id }} className={buttonClass({ size: 'small' })} aria-label={`Copy ${name}`}>
          Copy
        </Link>
      </Permitted>
      <Confirm
        action="Delete"
        size="small"
        needs="monitors_delete"
        label={`Delete ${name}`}
        message={`Delete “${name}”? Suppressed notifications are sent then.`}
        onYes={() => remove.mutateAsync()}
      />
    </li>
  )
}

/** The end of an active downtime, or its next start. */
function nextText(downtime: Downtime, zone: Zone, isOn: boolean): string {
  const [next] = upcoming(downtime, Date.now(), 1)
  if (!next) return isOn ? 'ended manually' : 'not within a week'
  if (!isOn) return spanText(next, zone)
  const { day, clock } = clockOf(next.toMs, zone)
  return `${day} ${clock.slice(0, 5)}`
}
