import type { contract, ReplyOutput, SpendDimension, SpendGroup, SpendPrice, SpendSum } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartBand, ChartData } from '../../parts/chart/data.ts'
import { money } from '../../parts/chart/money.ts'
import { bytes, count, share } from '../../parts/chart/numbers.ts'
import { fullName, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { usePatternTexts } from '../../parts/datasets/pattern-texts.tsx'
import { useCallers } from '../../parts/shell/callers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Page, Panel } from '../../parts/shell/page.tsx'
import { rangeOf, rangeParamsOf } from '../../parts/time/range-params.ts'
import { TimePicker } from '../../parts/time/time-picker.tsx'
import { boundsOf, gridOf, type Range } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import { Month } from './month.tsx'
import { dimensions } from './params.ts'
import { PriceAndBudget } from './price-and-budget.tsx'
import { WaysToSave } from './ways-to-save.tsx'

type Spend = ReplyOutput<typeof contract.spend.get>

const MONTH: Range = { words: 'Last 30 days' }
const SLICES = 60
const GROUPS_MAX = 50
const MINUTE_MS = 60_000
const SERIES_SHOWN_MAX = 8
const names: Record<SpendDimension, string> = {
  dataset: 'Datasets',
  pattern: 'Patterns',
  field: 'Fields',
  sender: 'Senders',
  key: 'Keys',
  protocol: 'Protocols',
}

/** Shows what arrives and what it costs, divided by one dimension, and the month against its budget. */
export function SpendPage() {
  const params = useSearch({ from: '/inside/spend' })
  const navigate = useNavigate({ from: '/spend' })
  const [zone, setZone] = useZone()
  const range = rangeOf(params, MONTH)
  const by = params.by ?? 'dataset'
  const { spend, stepMs } = useSpend(by, range)
  const pick = (next: Range) => void navigate({ search: ({ r: _r, f: _f, t: _t, ...rest }) => ({ ...rest, ...rangeParamsOf(next) }) })
  return (
    <Page
      title="Spend"
      back={
        <Link to="/usage" search={{}}>
          Usage
        </Link>
      }
      actions={
        <>
          <Choices
            label="Divided by"
            options={dimensions.map((one) => [one, names[one]] as const)}
            value={by}
            onPick={(one) => navigate({ search: (now) => ({ ...now, by: one }) })}
          />
          <TimePicker range={range} zone={zone} onPick={pick} onZone={setZone} />
        </>
      }
    >
      <Month zone={zone} />
      <Panel title="Over time">
        {spend.error ? <FailureNote thrown={spend.error} again={() => spend.refetch()} /> : null}
        {spend.data === undefined && !spend.error && <Loading />}
        {spend.data !== undefined && (
          <div className="flex flex-col gap-2 p-3" aria-busy={spend.isPlaceholderData}>
            <Total spend={spend.data} />
            {Number(spend.data.total.events) === 0 ? (
              <EmptyState title="Nothing arrived">
                <p className="text-soft">in this range</p>
                <Link to="/welcome" search={{}} className={buttonClass({ variant: 'main' })}>
                  Send data
                </Link>
              </EmptyState>
            ) : (
              <SpendChart spend={spend.data} stepMs={stepMs} zone={zone} onRange={(fromMs, toMs) => pick({ fromMs, toMs })} />
            )}
          </div>
        )}
      </Panel>
      {spend.data !== undefined && spend.data.groups.length > 0 && <Groups spend={spend.data} range={range} />}
      <WaysToSave />
      <PriceAndBudget />
    </Page>
  )
}

function useSpend(by: SpendDimension, range: Range) {
  const client = useClient()
  const grid = gridOf(boundsOf(range, Date.now()), SLICES)
  // What arrives is counted by minute; shorter steps would show false gaps.
  const stepMs = Math.max(MINUTE_MS, grid.stepMs)
  const [fromMs, toMs] = [Math.floor(grid.fromMs / stepMs) * stepMs, Math.ceil(grid.toMs / stepMs) * stepMs]
  const query = { by, from_ts: Math.max(0, fromMs), to_ts: toMs, num_of_slices: Math.round((toMs - fromMs) / stepMs), limit: GROUPS_MAX }
  const spend = useQuery({
    queryKey: ['spend', query],
    queryFn: ({ signal }) => client.spend.get({ query, signal }),
    placeholderData: keepPreviousData,
  })
  return { spend, stepMs }
}

function Total({ spend: { total, price, is_exact, is_estimate } }: { spend: Spend }) {
  return (
    <p className="flex flex-wrap items-baseline gap-x-4">
      <strong className="text-2xl tabular-nums">
        {price && total.cost !== undefined ? money(total.cost, price.currency) : bytes(Number(total.bytes))}
      </strong>
      <span className="text-soft tabular-nums">
        {is_exact ? '' : 'about '}
        {price ? `${bytes(Number(total.bytes))}, ` : ''}
        {count(Number(total.events))} events
        {is_estimate ? '; parts are estimated from samples of lines' : ''}
      </span>
    </p>
  )
}

const fieldName = (field: string): string => (field === '@text' ? 'text lines' : field === '@long' ? 'lines beyond 16 KiB' : field)

const idsOf = (groups: Spend['groups']): string[] => groups.flatMap(({ log_id }) => log_id ?? [])

/** The names of groups, as far as the caller may read them. */
function useGroupName({ groups }: Spend): (group: SpendGroup) => string {
  const ids = groups.flatMap(({ pattern }) => pattern ?? [])
  const texts = usePatternTexts(ids.length === 0 ? '' : `@pattern IN (${ids.map((id) => `'${id}'`).join(', ')})`)
  const { nameOf } = useDatasetsById(idsOf(groups))
  const callerOf = useCallers(groups.flatMap(({ identity }) => identity?.id ?? []))
  return useMemo(
    () => (group: SpendGroup) => {
      if (group.log_id !== undefined) {
        const dataset = nameOf(group.log_id, fullName)
        if (group.pattern !== undefined) return `${texts.get(group.pattern) ?? `pattern ${group.pattern}`} in ${dataset}`
        return group.field === undefined ? dataset : `${fieldName(group.field)} in ${dataset}`
      }
      if (group.identity) return callerOf(group.identity.id) ?? `user or key ${group.identity.id.slice(0, 8)}`
      return group.name
    },
    [nameOf, callerOf, texts],
  )
}

type SpendChartProps = {
  spend: Spend
  stepMs: number
  zone: Parameters<typeof Chart>[0]['zone']
  onRange(fromMs: number, toMs: number): void
}

/** Stacks the bytes of the largest groups, and of the rest. */
function SpendChart({ spend, stepMs, zone, onRange }: SpendChartProps) {
  const nameOf = useGroupName(spend)
  const data = useMemo<ChartData>(() => {
    const { groups, total, start_time, slice_ms } = spend
    const times = total.bytes_over_time.map((_, at) => start_time + at * slice_ms)
    const largest = groups.slice(0, SERIES_SHOWN_MAX - 1)
    const series = largest.map((group) => ({ name: nameOf(group), values: group.bytes_over_time.map(Number) }))
    const rest = total.bytes_over_time.map((all, at) => Number(all) - series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
    return { times, stepMs: slice_ms, series: rest.some((value) => value > 0) ? [...series, { name: 'others', values: rest }] : series }
  }, [spend, nameOf])
  const last = data.times.at(-1) ?? 0
  const bands: ChartBand[] = last + stepMs > Date.now() ? [{ fromMs: last, toMs: last + stepMs, kind: 'partial' }] : []
  return <Chart label="Spend" data={data} shape="bar" zone={zone} height={240} unit={bytes} bands={bands} onRange={onRange} />
}

function Groups({ spend, range }: { spend: Spend; range: Range }) {
  const nameOf = useGroupName(spend)
  const { price, groups, by } = spend
  const { byId } = useDatasetsById(idsOf(groups))
  return (
    <Panel title={names[by]}>
      <div className="overflow-x-auto p-3">
        <table aria-label="Spend" className="w-full text-left tabular-nums">
          <thead className="text-soft text-xs">
            <tr>
              <th className="font-normal">Name</th>
              <th className="text-right font-normal">Share</th>
              <th className="text-right font-normal">Bytes</th>
              {!spend.is_estimate && <th className="text-right font-normal">Events</th>}
              {price && <th className="text-right font-normal">Cost</th>}
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <GroupRow key={`${group.log_id} ${group.name}`} sum={group} whole={spend.total} price={price}>
                {group.log_id !== undefined && byId.has(group.log_id) ? (
                  <Link
                    to="/explore"
                    search={{ d: [group.log_id], ...queryOf(group), ...rangeParamsOf(range) }}
                    className="hover:underline"
                  >
                    {nameOf(group)}
                  </Link>
                ) : (
                  nameOf(group)
                )}
              </GroupRow>
            ))}
            {spend.other && (
              <GroupRow sum={spend.other} whole={spend.total} price={price}>
                <span className="text-soft">others</span>
              </GroupRow>
            )}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}

const queryOf = ({ pattern }: SpendGroup) => (pattern === undefined ? {} : { q: `@pattern = '${pattern}'` })

type GroupRowProps = { sum: SpendSum; whole: SpendSum; price: SpendPrice | undefined; children: ReactNode }

const GroupRow = ({ sum, whole, price, children }: GroupRowProps) => (
  <tr className="border-line border-t">
    <td className="wrap-anywhere py-1 pr-2 sm:max-w-0 sm:truncate">{children}</td>
    <td className="whitespace-nowrap py-1 pl-2 text-right sm:w-24">{share(Number(sum.bytes), Number(whole.bytes))}</td>
    <td className="whitespace-nowrap py-1 pl-2 text-right sm:w-28">{bytes(Number(sum.bytes))}</td>
    {sum.events !== undefined && <td className="whitespace-nowrap py-1 pl-2 text-right sm:w-32">{count(Number(sum.events))}</td>}
    {price && <td className="whitespace-nowrap py-1 pl-2 text-right sm:w-32">{money(sum.cost ?? 0, price.currency)}</td>}
  </tr>
)
