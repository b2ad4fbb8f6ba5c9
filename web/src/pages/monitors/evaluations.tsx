import type { Monitor, MonitorEvaluation } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartBand, ChartData, ChartLevel } from '../../parts/chart/data.ts'
import { count, quantity } from '../../parts/chart/numbers.ts'
import { unitText } from '../../parts/chart/unit.ts'
import { GroupText, useNamed } from '../../parts/datasets/pattern-texts.tsx'
import { groupKeys } from '../../parts/query/condition.ts'
import { StatusMark, Step } from '../../parts/records/status.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../parts/shell/page.tsx'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { bandsOf } from './bands.ts'
import { draftOf, ruleOf } from './draft.ts'
import { eventsOf, groupText, seriesName } from './events-of.ts'
import type { Notifications } from './history.tsx'
import { operatorNames, unitOfRule, valueTextOf, verdictNames } from './labels.ts'
import { levelsOf } from './levels.ts'
import type { LoadedEvaluations } from './loaded-evaluations.ts'
import { Preview } from './preview.tsx'
import { useEvaluation } from './queries.ts'

type EvaluationsProps = {
  monitor: Monitor
  kept: LoadedEvaluations | undefined
  sent: Notifications | undefined
  failure: unknown
  chosenMs: number | undefined
  older: { isPending: boolean; error: unknown; mutate(beforeMs: number): void }
  retry(): unknown
}

const SERIES_MAX = 20

/** Evaluations charts the evaluated values with the thresholds, beside the selected evaluation or the last one. */
export function Evaluations({ monitor, kept, sent, failure, chosenMs, older, retry }: EvaluationsProps) {
  const evaluations = kept?.evaluations
  const [zone] = useZone()
  const navigate = useNavigate({ from: '/monitors' })
  const drawing = useMemo(() => drawingOf(monitor, evaluations ?? []), [monitor, evaluations])
  const series = useNamed(groupKeys(monitor.queries[0]?.groups), drawing.data.series)
  const chart = useMemo(() => ({ ...drawing, data: { ...drawing.data, series } }), [drawing, series])
  const unit = unitText(unitOfRule(monitor))
  const listed = evaluations?.find(({ time }) => time === chosenMs)
  const far = useEvaluation(monitor.id, evaluations && !listed ? chosenMs : undefined)
  if (failure && !evaluations) return <FailureNote thrown={failure} again={retry} />
  if (!evaluations) return <Loading height="18rem" />
  const chosen = listed ?? far.data ?? evaluations[0]
  if (!chosen)
    return (
      <>
        <p className="text-soft">Not evaluated yet: monitors are evaluated every minute. This is how it would have behaved.</p>
        <Preview rule={ruleOf(draftOf(monitor))} />
      </>
    )
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="Evaluations">
        <div className="p-2">
          <Chart
            label="Evaluated values"
            data={chart.data}
            bands={chart.bands}
            levels={chart.levels}
            unit={unit}
            zone={zone}
            height={220}
            onPick={(fromMs) => navigate({ search: (now) => ({ ...now, evaluation: fromMs }) })}
          />
          <p className="px-1 text-soft text-xs">
            {evaluations.length === 1 ? '1 evaluation' : `${count(evaluations.length)} evaluations`}. Click one for its details.
          </p>
          <Oldest kept={kept} older={older} zone={zone} />
        </div>
      </Panel>
      <EvaluationDetails
        monitor={monitor}
        evaluation={chosen}
        delivery={deliveryOf(sent, chosen.time)}
        isLatest={chosen === evaluations[0]}
        zone={zone}
      />
    </div>
  )
}

/** Shows how far back the evaluations go and loads older ones. */
function Oldest({ kept, older, zone }: { kept: LoadedEvaluations; older: EvaluationsProps['older']; zone: Zone }) {
  const oldest = kept.evaluations.at(-1)
  if (!oldest) return null
  const { day, clock } = clockOf(oldest.time, zone)
  return (
    <div className="flex flex-wrap items-center gap-2 px-1 text-soft text-xs">
      <span>
        {kept.isEnd ? 'Oldest stored:' : 'Oldest shown:'} {day} {clock.slice(0, 8)}.
      </span>
      {!kept.isEnd && (
        <Button size="small" disabled={older.isPending} onClick={() => older.mutate(oldest.time)}>
          {older.isPending ? 'Loading…' : 'Load older'}
        </Button>
      )}
      {older.error ? <FailureNote thrown={older.error} again={() => older.mutate(oldest.time)} /> : null}
    </div>
  )
}

const PATTERN_KEYS = ['@pattern']

const numberOf = (value: MonitorEvaluation['value']): number | null => (typeof value === 'number' ? value : null)

function drawingOf(
  monitor: Monitor,
  evaluations: readonly MonitorEvaluation[],
): { data: ChartData; bands: ChartBand[]; levels: ChartLevel[] } {
  const sorted = evaluations.toSorted((a, b) => a.time - b.time)
  const groups = [...new Set(sorted.flatMap((evaluation) => evaluation.groups.map(({ group_id }) => group_id)))]
  const names = groups.slice(0, SERIES_MAX)
  const series = (names.length === 0 ? [''] : names).map((name) => ({
    name: name === '' ? 'value' : seriesName(monitor, name),
    values: sorted.map((evaluation) =>
      numberOf(evaluation.groups.find(({ group_id }) => group_id === name)?.value ?? (name === '' ? evaluation.value : undefined)),
    ),
  }))
  const times = sorted.map(({ time }) => time)
  const last = sorted.at(-1)
  return {
    data: { times, stepMs: 60_000, series, isCut: groups.length > names.length },
    bands: bandsOf(
      sorted.map(({ time, status }) => ({ time, status })),
      (last?.time ?? 0) + 60_000,
    ),
    levels: levelsOf(monitor),
  }
}

type EvaluationDetailsProps = {
  monitor: Monitor
  evaluation: MonitorEvaluation
  delivery: string | undefined
  isLatest: boolean
  zone: Zone
}

/** Shows one evaluation: per group the value, the baseline, the status and the notification. */
function EvaluationDetails({ monitor, evaluation, delivery, isLatest, zone }: EvaluationDetailsProps) {
  const at = (ms: number) => clockOf(ms, zone).clock.slice(0, 8)
  const { threshold, warning_threshold, comparison_operator, groups, groups_total, failure, missed, patterns, muted, downtime } = evaluation
  const span = { fromMs: evaluation.from_ts, toMs: evaluation.to_ts }
  const valueText = valueTextOf(monitor)
  const alertsAt = `${operatorNames[comparison_operator]} ${valueText(threshold)}`
  return (
    <Panel
      title={isLatest ? 'Last evaluation' : `Evaluation at ${clockOf(evaluation.time, zone).day} ${at(evaluation.time)}`}
      actions={
        <span className="flex gap-3 text-accent text-xs">
          <Link to="/explore" search={{ ...eventsOf(monitor, span), tab: 'changes' }} className="hover:underline">
            What changed?
          </Link>
          <Link to="/explore" search={eventsOf(monitor, span)} className="hover:underline">
            Events of this evaluation
          </Link>
        </span>
      }
    >
      <div className="flex flex-col gap-2 p-3">
        <p>
          <span className="align-middle">
            <StatusMark status={evaluation.status} isNamed />
          </span>{' '}
          from {at(evaluation.from_ts)} to {at(evaluation.to_ts)}: alerts {alertsAt}
          {warning_threshold !== undefined && `, warns at ${valueText(warning_threshold)}`}
        </p>
        {failure && <p className="text-error">The query failed. The status did not change, and no notification was sent: {failure}</p>}
        {missed > 0 && <p className="text-warn">{count(missed)} evaluations before this one were skipped.</p>}
        {(muted || downtime) && <p className="text-soft">{[muted && 'muted', downtime && 'in a downtime'].filter(Boolean).join(', ')}</p>}
        {patterns && patterns.length > 0 && (
          <ul className="max-h-40 overflow-auto font-mono text-xs">
            {patterns.map((one) => (
              <li key={one} className="wrap-anywhere">
                <GroupText keys={PATTERN_KEYS} name={one} />
              </li>
            ))}
          </ul>
        )}
        {patterns && typeof evaluation.value === 'number' && evaluation.value > patterns.length && (
          <p className="text-soft text-xs">
            The first {count(patterns.length)} of {quantity(evaluation.value, 'pattern')}.
          </p>
        )}
        <Decisions
          groups={groups}
          delivery={delivery}
          searchOf={(group) => eventsOf(monitor, span, group)}
          nameOf={(group) => groupText(monitor, group)}
          keys={groupKeys(monitor.queries[0]?.groups)}
          valueText={valueText}
        />
        {groups_total > groups.length && (
          <p className="text-soft text-xs">{count(groups_total - groups.length)} more groups without a change.</p>
        )}
      </div>
    </Panel>
  )
}

/** deliveryOf summarizes the results of the notifications that an evaluation queued; undefined when none is known. */
function deliveryOf(sent: Notifications | undefined, atMs: number): string | undefined {
  const states = (sent ?? []).filter(({ time, test }) => time === atMs && !test).map(({ status }) => status)
  if (states.length === 0) return undefined
  const failed = states.filter((state) => state === 'FAILED').length
  if (failed > 0) return failed === states.length ? 'failed' : `${count(failed)} of ${count(states.length)} failed`
  return states.includes('IN_PROGRESS') ? 'in progress' : 'sent'
}

type DecisionsProps = {
  groups: MonitorEvaluation['groups']
  delivery: string | undefined
  searchOf(group: string): ReturnType<typeof eventsOf>
  nameOf(group: string): string
  keys: readonly string[]
  valueText: ReturnType<typeof valueTextOf>
}

function Decisions({ groups, delivery, searchOf, nameOf, keys, valueText }: DecisionsProps) {
  if (groups.length === 0) return <p className="text-soft">No group had events.</p>
  const hasBaseline = groups.some(({ baseline }) => baseline !== undefined)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long table is scrolled by keyboard too
    <section tabIndex={0} aria-label="Groups of this evaluation" className="max-h-72 overflow-auto">
      <table aria-label="Groups of the evaluation" className="w-full text-xs">
        <thead className="text-left text-soft">
          <tr>
            <th className="py-1 pr-3 font-medium">Group</th>
            <th className="py-1 pr-3 text-right font-medium">Value</th>
            {hasBaseline && <th className="py-1 pr-3 text-right font-medium">Baseline</th>}
            <th className="py-1 pr-3 font-medium">Status</th>
            <th className="py-1 font-medium">Notification</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ group_id, value, baseline, before, after, change, verdict, gone }) => (
            <tr key={group_id} className="border-line border-t align-top">
              <td className="wrap-anywhere py-1 pr-3 font-mono">
                <Link to="/explore" search={searchOf(group_id)} title="Show events" className="text-accent hover:underline">
                  {group_id === '' ? 'all' : <GroupText keys={keys} name={nameOf(group_id)} />}
                </Link>
              </td>
              <td className="py-1 pr-3 text-right tabular-nums">{valueText(value)}</td>
              {hasBaseline && <td className="py-1 pr-3 text-right tabular-nums">{valueText(baseline)}</td>}
              <td className="whitespace-nowrap py-1 pr-3">
                <Step before={before} after={after} />
              </td>
              <td className="py-1">
                {verdict === 'sent' && delivery ? delivery : verdict ? (verdictNames.get(verdict) ?? verdict) : change ? 'none' : ''}
                {gone && ' removed: no events for too long'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
