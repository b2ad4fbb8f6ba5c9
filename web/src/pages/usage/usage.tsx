import type { Delta, MetricItem, Series, UsageSeries } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartBand, ChartData } from '../../parts/chart/data.ts'
import { bytes, count, share } from '../../parts/chart/numbers.ts'
import { shortName, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Page, Panel } from '../../parts/shell/page.tsx'
import { saveFile } from '../../parts/shell/save-file.ts'
import { rangeOf, rangeParamsOf } from '../../parts/time/range-params.ts'
import { TimePicker } from '../../parts/time/time-picker.tsx'
import { boundsOf, gridOf, type Range } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import { beforeOf, datasetsOf, isCut, LOGS_MAX, nestedOf, SEARCHED_MAX, usageCsv, usersOf } from './nested.ts'
import { kinds, type UsageKind } from './params.ts'
import { Shares, useNames } from './shares.tsx'

const WEEK: Range = { words: 'Last 7 days' }
const SLICES = 84
const MINUTE_MS = 60_000
const SERIES_SHOWN_MAX = 8
const NONE: readonly never[] = []
const names: Record<UsageKind, string> = { ingestion: 'Ingested', search: 'Searched', export: 'Exported' }

/** Shows ingestion, searches and exports over time, by dataset and user, against the previous period. */
export function UsagePage() {
  const params = useSearch({ from: '/inside/usage' })
  const navigate = useNavigate({ from: '/usage' })
  const [zone, setZone] = useZone()
  const range = rangeOf(params, WEEK)
  const { dataset, user } = params
  // By user only searches are counted.
  const kind = user === undefined ? (params.kind ?? 'ingestion') : 'search'
  const { whole, logs, users, before, stepMs } = useUsage(kind, range)
  const known = useNames({ datasets: dataset === undefined ? NONE : [dataset], callers: user === undefined ? NONE : [user] })
  const pick = (next: Range) => void navigate({ search: ({ r: _r, f: _f, t: _t, ...rest }) => ({ ...rest, ...rangeParamsOf(next) }) })
  const one =
    user === undefined
      ? logs.data && dataset !== undefined && nestedOf(logs.data).find(({ name }) => name === dataset)
      : users.data && nestedOf(users.data).find(({ name }) => name === user)
  const part = user === undefined ? (dataset === undefined ? undefined : known.dataset(dataset)) : known.caller(user)
  return (
    <Page
      title="Usage"
      actions={
        <>
          <Choices
            label="Kind of usage"
            options={kinds.map((one) => [one, names[one]] as const)}
            value={kind}
            onPick={(one) => navigate({ search: ({ user: _user, ...now }) => ({ ...now, kind: one }) })}
          />
          <TimePicker range={range} zone={zone} onPick={pick} onZone={setZone} />
          <Link to="/spend" search={rangeParamsOf(range)} className={buttonClass()}>
            Spend
          </Link>
        </>
      }
    >
      {part !== undefined && (
        <p className="-mt-2 flex flex-wrap items-center gap-2">
          <span className="text-soft">{user === undefined ? 'Only the dataset' : 'Only searches by'}</span>
          <strong className="wrap-anywhere font-medium">{part}</strong>
          <Link to="/usage" search={({ dataset: _dataset, user: _user, ...rest }) => rest} className="text-accent hover:underline">
            Show all
          </Link>
        </p>
      )}
      {part === undefined ? (
        <WholeOverTime
          kind={kind}
          whole={whole}
          logs={logs.data}
          stepMs={stepMs}
          zone={zone}
          onRange={(fromMs, toMs) => pick({ fromMs, toMs })}
        />
      ) : (
        <Part title={`${names[kind]} over time`} query={user === undefined ? logs : users}>
          {() => (
            <PartOverTime
              name={part}
              isCut={user === undefined ? isCut(logs.data, LOGS_MAX) : isCut(users.data, SEARCHED_MAX)}
              series={one || undefined}
              before={user === undefined ? before.data?.logs(dataset ?? '') : before.data?.users(user)}
              stepMs={stepMs}
              zone={zone}
              onRange={(fromMs, toMs) => pick({ fromMs, toMs })}
            />
          )}
        </Part>
      )}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        {user === undefined ? (
          <Part title="By dataset" query={logs}>
            {(data) => (
              <>
                <Shares series={nestedOf(data)} before={before.data?.logs} range={range} of="dataset" chosen={dataset} />
                {isCut(data, LOGS_MAX) && <TruncationNote>Only the {LOGS_MAX} largest.</TruncationNote>}
              </>
            )}
          </Part>
        ) : (
          <Part title="Searched by this user, by dataset" query={users}>
            {(data) => (
              <>
                <Shares series={datasetsOf(data, user)} before={undefined} range={range} of="dataset" chosen={undefined} />
                {isCut(data, SEARCHED_MAX) && <TruncationNote>Only the {SEARCHED_MAX} most searched datasets are counted.</TruncationNote>}
              </>
            )}
          </Part>
        )}
        <Part title="Searched, by user" query={users}>
          {(data) => (
            <>
              <Shares
                series={usersOf(data, dataset)}
                before={dataset === undefined ? before.data?.users : undefined}
                range={range}
                of="user"
                chosen={user}
              />
              {isCut(data, SEARCHED_MAX) && <TruncationNote>Only the {SEARCHED_MAX} most searched datasets are counted.</TruncationNote>}
            </>
          )}
        </Part>
      </div>
    </Page>
  )
}

type OverTimeProps = { stepMs: number; zone: Parameters<typeof Chart>[0]['zone']; onRange(fromMs: number, toMs: number): void }
type WholeOverTimeProps = OverTimeProps & { kind: UsageKind; whole: UsageRequest<MetricItem>; logs: UsageSeries | undefined }

function WholeOverTime({ kind, whole, logs, ...shown }: WholeOverTimeProps) {
  return (
    <Part title={`${names[kind]} over time`} query={whole}>
      {(data) => (
        <>
          <Total kind={kind} data={data} />
          {data.total_count === 0 ? (
            <EmptyState
              title={kind === 'ingestion' ? 'Nothing was ingested' : kind === 'search' ? 'Nothing was searched' : 'Nothing was exported'}
            >
              <p className="text-soft">in this range</p>
              <Link to={kind === 'ingestion' ? '/welcome' : '/explore'} search={{}} className={buttonClass({ variant: 'main' })}>
                {kind === 'ingestion' ? 'Send data' : 'Search in Explore'}
              </Link>
            </EmptyState>
          ) : (
            <UsageChart label={names[kind]} data={wholeData(data, names[kind])} logs={logs} {...shown} />
          )}
        </>
      )}
    </Part>
  )
}

type PartOverTimeProps = OverTimeProps & {
  name: string
  series: Series | undefined
  /** isCut means that there may be more series. */
  isCut: boolean
  before: number | undefined
}

/** Shows the usage of one dataset or user. */
function PartOverTime({ name, series, isCut, before, ...shown }: PartOverTimeProps) {
  if (!series) return <EmptyState title={isCut ? 'Not among the largest in this range' : 'No usage in this range'} />
  const data = {
    times: series.timeseries.map((slice) => Number(slice['@timestamp'])),
    series: [{ name, values: series.timeseries.map(({ value }) => value) }],
  }
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-4">
        <strong className="text-2xl tabular-nums">{bytes(series.value)}</strong>
        {before !== undefined && (
          <span className="text-soft tabular-nums">
            {differenceText(series.value - before)} against {bytes(before)} in the previous period
          </span>
        )}
      </p>
      <UsageChart label={name} data={data} logs={undefined} {...shown} />
    </>
  )
}

function useUsage(kind: UsageKind, range: Range) {
  const client = useClient()
  const grid = gridOf(boundsOf(range, Date.now()), SLICES)
  // Usage is counted by minute; shorter steps would show false gaps.
  const stepMs = Math.max(MINUTE_MS, grid.stepMs)
  const [fromMs, toMs] = [Math.floor(grid.fromMs / stepMs) * stepMs, Math.ceil(grid.toMs / stepMs) * stepMs]
  const query = { from_ts: Math.max(0, fromMs), to_ts: toMs, num_of_slices: Math.round((toMs - fromMs) / stepMs) }
  const options = { placeholderData: keepPreviousData }
  const whole = useQuery({
    ...options,
    queryKey: ['usage', kind, query],
    queryFn: ({ signal }) => client.usage.organization({ query: { ...query, usage_type: kind, delta: true }, signal }),
  })
  const logs = useQuery({
    ...options,
    queryKey: ['usage by dataset', kind, query],
    queryFn: ({ signal }) => client.usage.logs({ query: { ...query, usage_type: kind, limit: LOGS_MAX }, signal }),
  })
  const users = useQuery({
    ...options,
    queryKey: ['usage by user', query],
    queryFn: ({ signal }) =>
      client.usage.users({ query: { ...query, usage_type: 'search', metric: 'volume', limit: SEARCHED_MAX }, signal }),
  })
  const earlier = { from_ts: Math.max(0, query.from_ts - (toMs - fromMs)), to_ts: query.from_ts, num_of_slices: 1 }
  const before = useQuery({
    ...options,
    queryKey: ['usage before', kind, earlier],
    queryFn: async ({ signal }) => {
      const [ofLogs, ofUsers] = await Promise.all([
        client.usage.logs({ query: { ...earlier, usage_type: kind, limit: LOGS_MAX }, signal }),
        client.usage.users({ query: { ...earlier, usage_type: 'search', metric: 'volume', limit: SEARCHED_MAX }, signal }),
      ])
      return { logs: beforeOf(ofLogs, LOGS_MAX), users: beforeOf(ofUsers, SEARCHED_MAX) }
    },
  })
  return { whole, logs, users, before, stepMs }
}

type UsageRequest<T> = { data: T | undefined; error: unknown; isPlaceholderData: boolean; refetch(): unknown }

/** A panel that loads and fails on its own. */
function Part<T>({ title, query, children }: { title: string; query: UsageRequest<T>; children(data: T): ReactNode }) {
  return (
    <Panel title={title}>
      {query.error ? <FailureNote thrown={query.error} again={() => query.refetch()} /> : null}
      {query.data === undefined && !query.error && <Loading />}
      {query.data !== undefined && (
        <div className="flex flex-col gap-2 p-3" aria-busy={query.isPlaceholderData}>
          {children(query.data)}
        </div>
      )}
    </Panel>
  )
}

function Total({ kind, data }: { kind: UsageKind; data: MetricItem }) {
  const counted = { ingestion: 'events', search: 'searches', export: 'exports' }[kind]
  return (
    <p className="flex flex-wrap items-baseline gap-x-4">
      <strong className="text-2xl tabular-nums">{bytes(data.total_value)}</strong>
      <span className="text-soft tabular-nums">
        {data.is_exact ? '' : 'about '}
        {count(data.total_count)} {counted}
      </span>
      {data.delta && <Difference delta={data.delta} />}
    </p>
  )
}

const differenceText = (difference: number): string =>
  difference === 0 ? 'no change' : `${difference > 0 ? '+' : '−'}${bytes(Math.abs(difference))}`

function Difference({ delta }: { delta: Delta }) {
  const { delta_value, total_value } = delta
  const of = total_value === 0 ? '' : ` (${share(Math.abs(delta_value), total_value)})`
  return (
    <span className="text-soft tabular-nums">
      {differenceText(delta_value)}
      {of} against {bytes(total_value)} in the previous period
    </span>
  )
}

const wholeData = ({ series }: MetricItem, name: string): Pick<ChartData, 'times' | 'series'> => ({
  times: series.map((slice) => Number(slice['@timestamp'])),
  series: [{ name, values: series.map((slice) => Number(slice.value)) }],
})

type UsageChartProps = {
  label: string
  data: Pick<ChartData, 'times' | 'series'>
  logs: UsageSeries | undefined
  stepMs: number
  zone: Parameters<typeof Chart>[0]['zone']
  onRange(fromMs: number, toMs: number): void
}

/** UsageChart stacks the largest datasets and the rest; until they are loaded it draws the total. */
function UsageChart({ label, data, logs, stepMs, zone, onRange }: UsageChartProps) {
  const largest = useMemo(() => (logs ? nestedOf(logs).slice(0, SERIES_SHOWN_MAX - 1) : NONE), [logs])
  const { nameOf } = useDatasetsById(largest.map(({ name }) => name))
  const chartData = useMemo<ChartData>(() => {
    const [whole] = data.series
    if (!whole || largest.some(({ timeseries }) => timeseries.length !== data.times.length)) return { ...data, stepMs }
    const own = largest.map(({ name, timeseries }) => ({
      name: nameOf(name, shortName),
      values: timeseries.map(({ value }) => value),
    }))
    const rest = whole.values.map((value, at) => Math.max(0, (value ?? 0) - own.reduce((sum, one) => sum + (one.values[at] ?? 0), 0)))
    const isAll = rest.every((value, at) => value <= (whole.values[at] ?? 0) * 1e-9)
    if (own.length === 0) return { ...data, stepMs }
    return { times: data.times, stepMs, series: isAll ? own : [...own, { name: 'others', values: rest }] }
  }, [data, largest, nameOf, stepMs])
  const last = chartData.times.at(-1) ?? 0
  const bands: ChartBand[] = last + stepMs > Date.now() ? [{ fromMs: last, toMs: last + stepMs, kind: 'partial' }] : []
  return (
    <>
      <Chart
        label={label}
        data={chartData}
        shape="bar"
        zone={zone}
        height={240}
        unit={bytes}
        bands={bands}
        onRange={onRange}
        syncKey="usage"
      />
      <Button
        size="small"
        className="self-end"
        title="The values of the chart in bytes, one row per step"
        onClick={() => saveFile('usage.csv', 'text/csv', usageCsv(chartData.times, chartData.series))}
      >
        Export CSV
      </Button>
    </>
  )
}
