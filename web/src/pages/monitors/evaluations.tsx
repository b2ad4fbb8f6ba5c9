import type { Monitor, MonitorEvaluation } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartBand, ChartData, ChartLevel } from '../../parts/chart/data.ts'
import { unitText } from '../../parts/chart/unit.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { count, quantity } from '../../parts/numbers.ts'
import { Panel, Waiting } from '../../parts/page.tsx'
import { StatusMark, Step } from '../../parts/status.tsx'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import { useZone } from '../../parts/zone.ts'
import { Button } from '../../ui/button.tsx'
import { bandsOf } from './bands.ts'
import { eventsOf } from './events-of.ts'
import { operatorNames, shownValue, unitOfRule, verdictNames } from './labels.ts'
import type { LooksKept } from './loaded-evaluations.ts'
import { useLook } from './queries.ts'

type LooksProps = {
  monitor: Monitor
  kept: LooksKept | undefined
  failure: unknown
  chosenMs: number | undefined
  older: { isPending: boolean; error: unknown; mutate(beforeMs: number): void }
  again(): unknown
}

const SERIES_MAX = 20

/** Looks draws what a monitor saw, look by look, with its thresholds; one look is told in full: the latest, or the one that was clicked. */
export function Looks({ monitor, kept, failure, chosenMs, older, again }: LooksProps) {
  const looks = kept?.looks
  const [zone] = useZone()
  const navigate = useNavigate({ from: '/monitors' })
  const drawn = useMemo(() => drawingOf(monitor, looks ?? []), [monitor, looks])
  const unit = unitText(unitOfRule(monitor))
  const listed = looks?.find(({ time }) => time === chosenMs)
  const far = useLook(monitor.id, looks && !listed ? chosenMs : undefined)
  if (failure && !looks) return <FailureNote thrown={failure} again={again} />
  if (!looks) return <Waiting height="18rem">Reading what it saw …</Waiting>
  const chosen = listed ?? far.data ?? looks[0]
  if (!chosen) return <Waiting>It has not looked yet; it does every minute.</Waiting>
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="What it saw">
        <div className="p-2">
          <Chart
            label="What the monitor saw"
            data={drawn.data}
            bands={drawn.bands}
            levels={drawn.levels}
            unit={unit}
            zone={zone}
            height={220}
            onPick={(fromMs) => navigate({ search: (now) => ({ ...now, look: fromMs }) })}
          />
          <p className="px-1 text-soft text-xs">
            {looks.length === 1 ? '1 look' : `${count(looks.length)} looks`}. Click one to see what it decided, and why.
          </p>
          <Oldest kept={kept} older={older} zone={zone} />
        </div>
      </Panel>
      <OneLook monitor={monitor} look={chosen} isLatest={chosen === looks[0]} zone={zone} />
    </div>
  )
}

/** Oldest says how far back the looks go, and reads on until nothing older is kept. */
function Oldest({ kept, older, zone }: { kept: LooksKept; older: LooksProps['older']; zone: Zone }) {
  const oldest = kept.looks.at(-1)
  if (!oldest) return null
  const { day, clock } = clockOf(oldest.time, zone)
  return (
    <div className="flex flex-wrap items-center gap-2 px-1 text-soft text-xs">
      <span>
        {kept.isEnd ? 'Nothing older is kept than' : 'The oldest shown is of'} {day} {clock.slice(0, 8)}.
      </span>
      {!kept.isEnd && (
        <Button size="small" disabled={older.isPending} onClick={() => older.mutate(oldest.time)}>
          {older.isPending ? 'Reading …' : 'Older looks'}
        </Button>
      )}
      {older.error ? <FailureNote thrown={older.error} again={() => older.mutate(oldest.time)} /> : null}
    </div>
  )
}

const numberOf = (value: MonitorEvaluation['value']): number | null => (typeof value === 'number' ? value : null)

function drawingOf(monitor: Monitor, looks: readonly MonitorEvaluation[]): { data: ChartData; bands: ChartBand[]; levels: ChartLevel[] } {
  const sorted = looks.toSorted((a, b) => a.time - b.time)
  const groups = [...new Set(sorted.flatMap((look) => look.groups.map(({ group_id }) => group_id)))]
  const names = groups.slice(0, SERIES_MAX)
  const series = (names.length === 0 ? [''] : names).map((name) => ({
    name: name === '' ? 'value' : name,
    values: sorted.map((look) =>
      numberOf(look.groups.find(({ group_id }) => group_id === name)?.value ?? (name === '' ? look.value : undefined)),
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

/** levelsOf are the thresholds where values are compared with them; low anomalies are counted downwards. */
export function levelsOf({
  type,
  comparison_operator,
  threshold,
  warning_threshold,
}: Pick<Monitor, 'type' | 'comparison_operator' | 'threshold' | 'warning_threshold'>): ChartLevel[] {
  const sign = type === 'ANOMALY_DETECTION' && comparison_operator.startsWith('BELOW') ? -1 : 1
  return [
    { value: sign * threshold, name: 'alert', kind: 'ALERT' },
    ...(warning_threshold === undefined ? [] : [{ value: sign * warning_threshold, name: 'warning', kind: 'WARN' } as const]),
  ]
}

type OneLookProps = { monitor: Monitor; look: MonitorEvaluation; isLatest: boolean; zone: Zone }

/** OneLook is the record of one evaluation: for every group what was seen, what it was compared with, what that meant, and what became of it. */
function OneLook({ monitor, look, isLatest, zone }: OneLookProps) {
  const at = (ms: number) => clockOf(ms, zone).clock.slice(0, 8)
  const { threshold, warning_threshold, comparison_operator, groups, groups_total, failure, missed, patterns, muted, downtime } = look
  const stretch = { fromMs: look.from_ts, toMs: look.to_ts }
  const alertsAt = `${operatorNames[comparison_operator]} ${count(threshold)}`
  return (
    <Panel
      title={isLatest ? 'The latest look' : `The look at ${clockOf(look.time, zone).day} ${at(look.time)}`}
      actions={
        <Link to="/explore" search={eventsOf(monitor, stretch)} className="text-accent text-xs hover:underline">
          Events it looked at
        </Link>
      }
    >
      <div className="flex flex-col gap-2 p-3">
        <p>
          <span className="align-middle">
            <StatusMark status={look.status} isNamed />
          </span>{' '}
          from {at(look.from_ts)} to {at(look.to_ts)}: alerts {alertsAt}
          {warning_threshold !== undefined && `, warns at ${count(warning_threshold)}`}
        </p>
        {failure && <p className="text-error">The store could not be asked, so nothing was changed or sent: {failure}</p>}
        {missed > 0 && <p className="text-warn">{count(missed)} looks before this one were skipped.</p>}
        {(muted || downtime) && <p className="text-soft">{[muted && 'muted', downtime && 'in a downtime'].filter(Boolean).join(', ')}</p>}
        {patterns && patterns.length > 0 && (
          <ul className="max-h-40 overflow-auto font-mono text-xs">
            {patterns.map((one) => (
              <li key={one} className="break-all">
                {one}
              </li>
            ))}
          </ul>
        )}
        {patterns && typeof look.value === 'number' && look.value > patterns.length && (
          <p className="text-soft text-xs">
            The first {count(patterns.length)} of {quantity(look.value, 'pattern')}.
          </p>
        )}
        <Decisions groups={groups} searchOf={(group) => eventsOf(monitor, stretch, group)} />
        {groups_total > groups.length && (
          <p className="text-soft text-xs">{count(groups_total - groups.length)} further groups without news.</p>
        )}
      </div>
    </Panel>
  )
}

type DecisionsProps = { groups: MonitorEvaluation['groups']; searchOf(group: string): ReturnType<typeof eventsOf> }

function Decisions({ groups, searchOf }: DecisionsProps) {
  if (groups.length === 0) return <p className="text-soft">No group had events.</p>
  const hasBaseline = groups.some(({ baseline }) => baseline !== undefined)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long table is scrolled by keyboard too
    <section tabIndex={0} aria-label="Groups of this look" className="max-h-72 overflow-auto">
      <table className="w-full text-xs">
        <thead className="text-left text-soft">
          <tr>
            <th className="py-1 pr-3 font-medium">Group</th>
            <th className="py-1 pr-3 text-right font-medium">Value</th>
            {hasBaseline && <th className="py-1 pr-3 text-right font-medium">Baseline</th>}
            <th className="py-1 pr-3 font-medium">Status</th>
            <th className="py-1 font-medium">Told</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ group_id, value, baseline, before, after, change, verdict, gone }) => (
            <tr key={group_id} className="border-line border-t align-top">
              <td className="break-all py-1 pr-3 font-mono">
                <Link to="/explore" search={searchOf(group_id)} title="Its events" className="text-accent hover:underline">
                  {group_id === '' ? 'all' : group_id}
                </Link>
              </td>
              <td className="py-1 pr-3 text-right tabular-nums">{shownValue(value)}</td>
              {hasBaseline && <td className="py-1 pr-3 text-right tabular-nums">{shownValue(baseline)}</td>}
              <td className="whitespace-nowrap py-1 pr-3">
                <Step before={before} after={after} />
              </td>
              <td className="py-1">
                {verdict ? (verdictNames[verdict] ?? verdict) : change ? 'nothing' : ''}
                {gone && ' silent for too long, forgotten'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
