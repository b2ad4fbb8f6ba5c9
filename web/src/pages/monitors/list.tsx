import type { Monitor, MonitorTotals } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { CalendarOff, LayoutTemplate } from 'lucide-react'
import { ago, count } from '../../parts/chart/numbers.ts'
import { QueryText } from '../../parts/datasets/pattern-texts.tsx'
import { ContentPackOffers, ReadyMadeMenu, useReadyMadeAction } from '../../parts/records/content-packs.tsx'
import { FilterRow } from '../../parts/records/filter-row.tsx'
import { MorePages } from '../../parts/records/pages.tsx'
import { RecordList } from '../../parts/records/records.tsx'
import { StatusMark, statusNames, WaitingMark } from '../../parts/records/status.tsx'
import { ActionMenu, type MenuAction } from '../../parts/shell/action-menu.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { useZone } from '../../parts/time/zone.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { ruleText } from './labels.ts'
import { type MonitorListQuery, type ShownGroup, useMonitorList } from './list-query.ts'
import { Mute, mutedText } from './mute.tsx'
import { filters, groupings, type MonitorFilter, type MonitorParams } from './params.ts'
import { useSelection } from './selection.ts'

/** links are behind one button on a phone. */
const links: readonly MenuAction[] = [
  { name: 'Downtimes', note: 'Times without notifications', icon: CalendarOff, link: { to: '/downtimes', search: {} } },
  { name: 'Templates', note: 'Monitors with parameters', icon: LayoutTemplate, link: { to: '/monitors', search: { view: 'templates' } } },
]

/** Lists the monitors, worst first, with text and status filters. */
export function MonitorList({ params }: { params: MonitorParams }) {
  const list = useMonitorList(params)
  const { totals, monitors, groups } = list
  const readyMade = useReadyMadeAction('monitors_write')
  const navigate = useNavigate({ from: '/monitors' })
  const set = (change: MonitorParams) => navigate({ search: (now) => ({ ...now, ...change }), replace: true })
  const isFiltered = params.find !== undefined || params.show !== undefined
  return (
    <Page
      title="Monitors"
      actions={
        <>
          <span className="max-sm:hidden">
            <Link to="/downtimes" className="px-2 text-accent hover:underline">
              Downtimes
            </Link>
            <Link to="/monitors" search={{ view: 'templates' }} className="px-2 text-accent hover:underline">
              Templates
            </Link>
          </span>
          <Permitted to={['monitors_write', 'dashboards_write', 'search_read']}>
            <ReadyMadeMenu />
          </Permitted>
          <Permitted to="monitors_write">
            <Link to="/monitors" search={{ edit: 'new' }} className={buttonClass({ variant: 'main' })}>
              New monitor
            </Link>
          </Permitted>
          <span className="sm:hidden">
            <ActionMenu actions={[...readyMade, ...links]} />
          </span>
        </>
      }
    >
      {list.error && <FailureNote thrown={list.error} again={() => list.refetch()} />}
      {totals?.all === 0 && (
        <EmptyState title="No monitors yet">
          <p className="text-soft">A monitor evaluates a query every minute and sends notifications when its status changes.</p>
          <Permitted to="monitors_write">
            <Link to="/monitors" search={{ edit: 'new' }} className={buttonClass({ variant: 'main' })}>
              Create the first monitor
            </Link>
            <p className="text-soft">
              Or{' '}
              <Link to="/explore" search={{}} className="text-accent underline">
                run a search in Explore
              </Link>{' '}
              and choose “Create monitor”.
            </p>
          </Permitted>
        </EmptyState>
      )}
      {totals?.all === 0 && <ContentPackOffers />}
      {(totals ? totals.all > 0 : isFiltered) && <Filters totals={totals} params={params} onChange={set} />}
      {!list.data && !list.error && <Loading />}
      {totals && totals.all > 0 && monitors && groups && (
        <div aria-busy={list.isPlaceholderData} className="flex flex-col gap-3">
          {monitors.length === 0 ? (
            <EmptyState title="No monitor matches">
              <Button onClick={() => navigate({ search: {} })}>Show all {count(totals.all)}</Button>
            </EmptyState>
          ) : (
            <Groups query={list.query} monitors={monitors} groups={groups} isWhole={!list.hasNextPage} />
          )}
          <MorePages of={list} rest={totals.found - monitors.length} />
        </div>
      )}
    </Page>
  )
}

const isWaiting = ({ last_evaluated_ts }: Monitor): boolean => last_evaluated_ts === undefined

type FiltersProps = { totals: MonitorTotals | undefined; params: MonitorParams; onChange(change: MonitorParams): void }

function Filters({ totals, params, onChange }: FiltersProps) {
  const { show, find = '' } = params
  const many = (filter: MonitorFilter) => totals && (filter === 'MUTED' ? totals.muted : totals.by_status[filter])
  return (
    <div className="flex flex-wrap items-center gap-1 max-sm:gap-y-2">
      <Input
        className="mr-2 sm:max-w-64 max-sm:mr-0"
        placeholder="Find a monitor"
        aria-label="Find a monitor"
        value={find}
        onChange={(event) => onChange({ find: event.target.value || undefined } as MonitorParams)}
      />
      <FilterRow label="Show only">
        {filters.map((filter) => (
          <Button
            key={filter}
            variant={show === filter ? 'chosen' : 'quiet'}
            aria-pressed={show === filter}
            onClick={() => onChange({ show: show === filter ? undefined : filter } as MonitorParams)}
          >
            {filter === 'MUTED' ? 'Muted' : <StatusMark status={filter} isNamed />}
            <span className="tabular-nums">{count(many(filter) ?? 0)}</span>
          </Button>
        ))}
      </FilterRow>
      <span className="ml-auto flex items-center gap-2 max-sm:ml-0 max-sm:px-1.5">
        <span className="text-soft text-xs">Group by</span>
        <Select
          className="w-32!"
          aria-label="Group by"
          value={params.group ?? 'nothing'}
          options={[['nothing', 'none'], ...groupings.map((one) => [one, one] as const)]}
          onPick={(next) => onChange({ group: next === 'nothing' ? undefined : next } as MonitorParams)}
        />
      </span>
    </div>
  )
}

type GroupsProps = { query: MonitorListQuery; monitors: readonly Monitor[]; groups: readonly ShownGroup[]; isWhole: boolean }

/** Lists monitors by group; the selected ones are muted together, also those that are not shown yet. */
function Groups({ query, monitors, groups, isWhole }: GroupsProps) {
  const { chosen, isTicked, isAll, isLoading, error, toggle, toggleAll } = useSelection({ query, monitors, isWhole })
  return (
    <>
      <Permitted to="monitors_write">
        <div className="flex min-h-8 flex-wrap items-center gap-3">
          <label className="flex items-center gap-2 pl-3">
            <input type="checkbox" checked={isAll} onChange={toggleAll} />
            {chosen.length > 0 ? `${count(chosen.length)} selected` : isLoading && !error ? 'Loading…' : 'Select all'}
          </label>
          {chosen.length > 0 && <Mute monitors={chosen} size="small" />}
        </div>
        {error && <FailureNote thrown={error} />}
      </Permitted>
      {groups.map(({ name, total, monitors: own }) => (
        <section key={name} aria-label={name === '' ? undefined : name} className="flex flex-col gap-1">
          {name !== '' && (
            <h2 className="break-words font-medium">
              {name} <span className="text-soft tabular-nums">{count(total)}</span>
            </h2>
          )}
          <RecordList label={name === '' ? 'Monitors' : `Monitors: ${name}`}>
            {own.map((monitor) => (
              <Row key={monitor.id} monitor={monitor} isTicked={isTicked(monitor.id)} onTick={() => toggle(monitor.id)} />
            ))}
          </RecordList>
        </section>
      ))}
    </>
  )
}

type RowProps = { monitor: Monitor; isTicked: boolean; onTick(): void }

function Row({ monitor, isTicked, onTick }: RowProps) {
  const [zone] = useZone()
  const { id, name, status, monitored_groups, last_trigger_ts } = monitor
  const wrong = monitored_groups.filter((one) => one.status === 'ALERT' || one.status === 'WARN')
  const muted = mutedText(monitor, zone)
  return (
    <li className="flex items-start gap-3 px-3 py-2">
      <Permitted to="monitors_write">
        <input type="checkbox" className="mt-1" aria-label={`Select ${name}`} checked={isTicked} onChange={onTick} />
      </Permitted>
      <span className="pt-0.5">{isWaiting(monitor) ? <WaitingMark /> : <StatusMark status={status} />}</span>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <Link to="/monitors" search={{ id }} className="break-words font-medium hover:underline">
            {name}
          </Link>
          <span className="text-soft text-xs">
            {[
              last_trigger_ts === undefined
                ? undefined
                : `${statusNames[status] === 'OK' ? 'last triggered' : 'triggered'} ${ago(last_trigger_ts, Date.now())}`,
              isWaiting(monitor) ? 'waiting for its first evaluation' : undefined,
              monitored_groups.length > 0 ? `${wrong.length} of ${monitored_groups.length} groups` : undefined,
              muted,
            ]
              .filter((text) => text !== undefined)
              .join(' · ')}
          </span>
        </p>
        <p className="break-words text-soft text-xs">
          <QueryText text={ruleText(monitor)} />
        </p>
      </div>
      <Permitted to="monitors_write">
        <Mute monitors={[monitor]} size="small" />
      </Permitted>
    </li>
  )
}
