import type { contract, ReplyOf } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import { chartData } from '../../parts/chart/measured.ts'
import { count, quantity, share, span } from '../../parts/chart/numbers.ts'
import { unitOf, unitText } from '../../parts/chart/unit.ts'
import { GroupText, useNamed } from '../../parts/datasets/pattern-texts.tsx'
import { groupKeys } from '../../parts/query/condition.ts'
import { useSettled } from '../../parts/query/settled.ts'
import { TruncationNote, useShown } from '../../parts/records/long-list.tsx'
import { StatusMark, Step, statuses } from '../../parts/records/status.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel, Placeholder } from '../../parts/shell/page.tsx'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { bandsOf } from './bands.ts'
import { type WatchRule, windowMsOf } from './draft.ts'
import { eventsOf, groupText } from './events-of.ts'
import { operatorNames, valueTextOf } from './labels.ts'
import { levelsOf } from './levels.ts'
import { beyondUsual } from './usual-values.ts'

type Backtest = ReplyOf<typeof contract.monitors.backtest>

const DAYS = 7
const DAY_MS = 86_400_000
const SETTLE_MS = 500
const GROUPS_MAX = 8
const SLICES_MAX = 1_440
const SHOWN_AT_ONCE = 200

type PreviewProps = {
  rule: WatchRule | undefined
  /** Takes a suggested threshold; without it none is suggested. */
  onThreshold?: (threshold: number) => void
}

/** Preview backtests the rule over the last 7 days. */
export function Preview({ rule, onThreshold }: PreviewProps) {
  const [zone] = useZone()
  const navigate = useNavigate()
  const settled = useSettled(rule, SETTLE_MS)
  const backtest = useBacktest(settled)
  const series = useSeries(settled)
  const named = useNamed(groupKeys(rule?.queries[0]?.groups), series.data?.series ?? NO_SERIES)
  const found = backtest.data
  const bands = useMemo(() => bandsIn(found), [found])
  const isOld = backtest.isFetching || settled !== rule
  if (!rule) return <Placeholder height="20rem">Enter a measure and a threshold to see a backtest.</Placeholder>
  return (
    <Panel
      title={`Preview: last ${DAYS} days`}
      actions={
        backtest.isFetching && (
          <Button size="small" onClick={() => void backtest.cancel()}>
            Cancel
          </Button>
        )
      }
    >
      {backtest.error ? <FailureNote thrown={backtest.error} again={() => backtest.refetch()} /> : null}
      {!found &&
        !backtest.error &&
        (backtest.isFetching ? <Loading height="20rem" /> : <Placeholder height="20rem">Canceled.</Placeholder>)}
      {found && !backtest.error && (
        <div className="flex flex-col gap-3 p-3" aria-busy={isOld}>
          <Outcome found={found} />
          {series.error ? <FailureNote thrown={series.error} again={() => series.refetch()} /> : null}
          {series.data ? (
            <Chart
              label="Previewed values"
              data={{ ...series.data, series: named }}
              bands={bands}
              levels={rule.monitor_type === 'PATTERN' ? levelsOf({ type: 'PATTERN', ...rule }) : []}
              unit={unitText(
                rule.monitor_type === 'USAGE'
                  ? 'bytes'
                  : unitOf({ select: rule.queries[0]?.select ?? [], formula: rule.formulas?.[0]?.expression }),
              )}
              zone={zone}
              height={220}
              onPick={(fromMs, toMs) => navigate({ to: '/explore', search: eventsOf(rule, { fromMs, toMs }) })}
            />
          ) : (
            !series.error && <Loading height="16rem" />
          )}
          {series.data && onThreshold && rule.monitor_type === 'PATTERN' && !isOld && (
            <SuggestedThreshold rule={rule} series={series.data.series} onThreshold={onThreshold} />
          )}
          {series.data?.isCut && <p className="text-soft text-xs">Only the largest groups are drawn.</p>}
          <p className="text-soft text-xs">Click a point, or a change below, to see its events.</p>
          {rule.monitor_type !== 'PATTERN' && (
            <p className="text-soft text-xs">
              The chart shows the values of the query. The threshold applies to the value derived from them, listed with the changes below.
            </p>
          )}
          <WouldChange found={found} rule={rule} zone={zone} />
        </div>
      )}
    </Panel>
  )
}

function useBacktest(rule: WatchRule | undefined) {
  const client = useClient()
  const [aborter, setAborter] = useState<AbortController>()
  const query = useQuery({
    queryKey: ['backtest', rule],
    enabled: rule !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      if (!rule) throw new Error('a backtest needs a rule')
      const own = new AbortController()
      setAborter(own)
      return client.monitors.backtest({ body: { ...rule, days: DAYS }, signal: AbortSignal.any([signal, own.signal]), repeatable: true })
    },
  })
  return { ...query, cancel: () => aborter?.abort(new Error('You canceled it.')) }
}

/** useSeries queries slices of the window length, so that each equals the evaluation at its end. */
function useSeries(rule: WatchRule | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['series of a rule', rule?.queries, rule?.formulas, rule?.window],
    enabled: rule !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const windowMs = windowMsOf(rule?.window ?? '') ?? 300_000
      const toMs = Math.floor(Date.now() / windowMs) * windowMs
      const slices = Math.floor((DAYS * DAY_MS) / windowMs)
      const parts = Math.ceil(slices / SLICES_MAX)
      const each = Math.ceil(slices / parts)
      const ranges = Array.from({ length: parts }, (_, at) => ({
        fromMs: toMs - (parts - at) * each * windowMs,
        toMs: toMs - (parts - at - 1) * each * windowMs,
      }))
      const { queries = [], formulas } = rule ?? {}
      const answers = await Promise.all(
        ranges.map((part) =>
          client.timeseries.search({
            body: {
              queries,
              ...(formulas ? { formulas } : {}),
              time_range: { from_ts: part.fromMs, to_ts: part.toMs },
              num_of_slices: each,
              // One more than is drawn tells whether any is left out.
              limit: GROUPS_MAX + 1,
            },
            signal,
            repeatable: true,
          }),
        ),
      )
      // The value of the formula counts, or that of the first query.
      const watched = formulas?.[0]?.name ?? queries[0]?.name ?? ''
      const { series, ...all } = joined(answers.map((answer) => chartData(answer[watched] ? [answer[watched]] : [])))
      return { ...all, series: series.slice(0, GROUPS_MAX), isCut: series.length > GROUPS_MAX }
    },
  })
}

type Data = ReturnType<typeof chartData>
const NO_SERIES: Data['series'] = []

/** joined concatenates time spans; a group that one lacks has no values there. */
function joined(parts: readonly Data[]): Data {
  const names = [...new Set(parts.flatMap(({ series }) => series.map(({ name }) => name)))]
  return {
    times: parts.flatMap(({ times }) => times),
    stepMs: parts[0]?.stepMs ?? 0,
    series: names.map((name) => ({
      name,
      values: parts.flatMap(({ times, series }) => series.find((one) => one.name === name)?.values ?? times.map(() => null)),
    })),
  }
}

function bandsIn(found: Backtest | undefined) {
  if (!found) return []
  const first = found.monitor_events[0]?.previous_status ?? 'OK'
  return bandsOf(
    [{ time: found.from_ts, status: first }, ...found.monitor_events.map(({ time, monitor_status }) => ({ time, status: monitor_status }))],
    found.to_ts,
  )
}

function SuggestedThreshold({
  rule,
  series,
  onThreshold,
}: Required<Pick<PreviewProps, 'onThreshold'>> & { rule: WatchRule; series: Data['series'] }) {
  const { monitor_type: type, aux, queries, formulas = [], change_type, comparison_operator: operator, threshold } = rule
  const found = beyondUsual(
    operator,
    threshold,
    series.flatMap(({ values }) => values),
  )
  if (!found) return null
  const valueText = valueTextOf({ type, queries, formulas, change_type, ...(aux === undefined ? {} : { aux }) })
  return (
    <p className="flex flex-wrap items-center gap-2 text-xs">
      The {operator.startsWith('ABOVE') ? 'highest' : 'lowest'} value of {DAYS} days is {valueText(found.outermost)}.
      <Button size="small" onClick={() => onThreshold(found.threshold)}>
        Alert {operatorNames[operator]} {valueText(found.threshold)}
      </Button>
    </p>
  )
}

function Outcome({ found }: { found: Backtest }) {
  const { changes_total, notifications_total, time_in_status, from_ts, to_ts, step_ms } = found
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1" aria-live="polite">
      <strong>
        {changes_total === 0
          ? 'No status changes.'
          : `${count(changes_total)} status changes, ${count(notifications_total)} notifications.`}
      </strong>
      {statuses.map(
        (status) =>
          (time_in_status[status] ?? 0) > 0 && (
            <span key={status} className="flex items-center gap-1 text-xs">
              <StatusMark status={status} isNamed /> {span(time_in_status[status] ?? 0)} (
              {share(time_in_status[status] ?? 0, to_ts - from_ts)})
            </span>
          ),
      )}
      <span className="text-soft text-xs">evaluated every {span(step_ms)}</span>
    </p>
  )
}

function WouldChange({ found, rule, zone }: { found: Backtest; rule: WatchRule; zone: Zone }) {
  const { shown, more } = useShown(found.changes.toReversed(), SHOWN_AT_ONCE)
  const windowMs = windowMsOf(rule.window) ?? 300_000
  const { monitor_type: type, aux, queries, formulas = [], change_type } = rule
  const valueText = valueTextOf({ type, queries, formulas, change_type, ...(aux === undefined ? {} : { aux }) })
  if (found.changes.length === 0) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard too
    <section tabIndex={0} aria-label="Previewed status changes" className="max-h-60 overflow-auto">
      <table aria-label="Previewed status changes" className="w-full text-xs">
        <tbody>
          {shown.map(({ time, group_id, value, before, after, verdict }) => (
            <tr key={`${time} ${group_id}`} className="border-line border-t">
              <td className="whitespace-nowrap py-1 pr-3 tabular-nums">
                <Link
                  to="/explore"
                  search={eventsOf(rule, { fromMs: time - windowMs, toMs: time }, group_id)}
                  title="Show the events of this evaluation"
                  className="text-accent hover:underline"
                >
                  {clockOf(time, zone).day} {clockOf(time, zone).clock.slice(0, 5)}
                </Link>
              </td>
              <td className="whitespace-nowrap py-1 pr-3">
                <Step before={before} after={after} />
              </td>
              <td className="wrap-anywhere py-1 pr-3 font-mono">
                <GroupText keys={groupKeys(rule.queries[0]?.groups)} name={groupText(rule, group_id)} />
              </td>
              <td className="py-1 pr-3 text-right tabular-nums">{valueText(value)}</td>
              <td className="py-1 text-soft">{verdict === 'sent' ? 'notifies' : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
      {found.changes_total > found.changes.length && (
        <TruncationNote>
          Only the first {count(found.changes.length)} of {quantity(found.changes_total, 'change')}.
        </TruncationNote>
      )}
    </section>
  )
}
