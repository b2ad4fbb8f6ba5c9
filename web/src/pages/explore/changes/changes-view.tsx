import type { ChangesReply, Finding, FindingName } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { Bell, Copy } from 'lucide-react'
import { Fragment } from 'react'
import { count, quantity, share } from '../../../parts/chart/numbers.ts'
import { CopyButton } from '../../../parts/shell/copy-button.tsx'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { boundsOf, clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { buttonClass } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Forbidden, isForbidden } from '../events/list/empty-result.tsx'
import { Template } from '../patterns/pattern-list.tsx'
import type { ExploreQuery } from '../query/explore-query.ts'
import type { TimeSpan } from '../time/time-span.ts'
import { type Baseline, baselineName, baselines } from './baseline.ts'
import { changesSummary } from './changes-summary.ts'
import { findingMonitorParams } from './finding-monitor.ts'
import type { useChanges } from './use-changes.ts'

type ChangesViewProps = {
  result: ReturnType<typeof useChanges>
  query: ExploreQuery
  selection: TimeSpan | undefined
  baseline: Baseline
  zone: Zone
  onBaseline(baseline: Baseline): void
  /** Shows the events of a finding; of one that vanished those in the time before. */
  onEvents(where: string, timeSpan?: TimeSpan): void
  /** The address of this comparison within fixed times. */
  linkOf(whole: TimeSpan): string
}

/** Lists what changed in the selection, the most telling first: each finding as two bars and a sentence. */
export function ChangesView({ result, query, selection, baseline, zone, onBaseline, onEvents, linkOf }: ChangesViewProps) {
  const { data, error, isPlaceholderData, refetch } = result
  if (isForbidden(error)) return <Forbidden failure={error} onRetry={refetch} />
  const whole = data?.whole ?? boundsOf(query.range, Date.now())
  const selected = selection ?? whole
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="What changed" tabIndex={0} className="min-h-0 flex-1 overflow-auto">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2 text-xs">
        <span>{timeSpanText(selected, zone)}</span>
        <label className="flex items-center gap-1 text-soft">
          Compared with
          <select
            className="h-6.5 rounded border border-line bg-panel px-1 text-ink"
            value={baseline}
            onChange={(event) => {
              const next = baselines.find((one) => one === event.target.value)
              if (next) onBaseline(next)
            }}
          >
            {baselines
              .filter((one) => one !== 'rest' || selection !== undefined || one === baseline)
              .map((one) => (
                <option key={one} value={one}>
                  {baselineName(one, selected, whole)}
                </option>
              ))}
          </select>
        </label>
        {data && !error && <CopySummary text={changesSummary(data.changes, query.where, linkOf(data.whole))} />}
      </div>
      {error ? <FailureNote thrown={error} again={refetch} /> : null}
      {data && !error ? (
        <div aria-busy={isPlaceholderData}>
          <Findings changes={data.changes} query={query} onEvents={onEvents} />
        </div>
      ) : null}
      {!data && !error && <Skeleton className="px-3" lineClass="my-4 h-4" />}
    </section>
  )
}

/** Copies a message to the team: what changed, when, and a link to it. */
const CopySummary = ({ text }: { text: string }) => (
  <span className="ml-auto flex max-w-full flex-wrap items-center gap-2">
    <CopyButton
      size="small"
      title="Copy a summary with a link, for a message to your team"
      text={text}
      before={<Icon of={Copy} size="small" />}
    >
      Copy summary
    </CopyButton>
  </span>
)

type FindingsProps = { changes: ChangesReply; query: ExploreQuery; onEvents: ChangesViewProps['onEvents'] }

function Findings({ changes, query, onEvents }: FindingsProps) {
  const { findings, groups, summary, range, baseline, compared, skipped, findings_total, is_sampled } = changes
  const scale = Math.max(0.01, ...findings.flatMap((one) => [one.share, one.baseline_share]))
  // The summary ends with the first finding, which follows here anyway.
  const volume = findings[0] ? summary.replace(findings[0].text, '').trim() : summary
  return (
    <>
      <p className="px-3 pb-2 text-sm">
        <strong className="font-medium">{quantity(range.count, 'event')}</strong>
        <span className="text-soft"> · {count(baseline.count)} before</span>
      </p>
      {findings.length === 0 ? (
        <p className="max-w-prose px-3 pb-3 text-sm">{volume}</p>
      ) : (
        <div className="divide-y divide-line border-line border-y">
          {groups.map(({ findings: positions, shared }) => (
            <div key={positions[0]} className="divide-y divide-line">
              {shared.length > 0 && <SharedRow names={shared} number={positions.length} onEvents={onEvents} />}
              <ol className="divide-y divide-line">
                {positions.flatMap((at) => {
                  const one = findings[at]
                  if (!one) return []
                  return (
                    <FindingRow
                      key={one.where}
                      finding={one}
                      isMember={shared.length > 0}
                      scale={scale}
                      onEvents={(where) =>
                        onEvents(where, one.change === 'VANISHED' ? { fromMs: baseline.from_ts, toMs: baseline.to_ts } : undefined)
                      }
                      monitor={findingMonitorParams(one, changes, query)}
                    />
                  )
                })}
              </ol>
            </div>
          ))}
        </div>
      )}
      <p className="wrap-anywhere max-w-reading p-3 text-soft text-xs">
        {is_sampled
          ? 'Counts are of stored spans: a rule keeps all failed or slow traces and a share of the others. '
          : 'Counts are exact. '}
        {quantity(compared.length, 'field')} compared. {skippedText(skipped)}
        {findings_total > findings.length && `The ${findings.length} first of ${count(findings_total)} findings are shown.`}
      </p>
    </>
  )
}

const changeNames = { NEW: 'new', INCREASED: 'more', DECREASED: 'less', VANISHED: 'gone' } as const
const changeColors = {
  NEW: 'bg-accent text-accent-ink',
  INCREASED: 'bg-tint text-ink',
  DECREASED: 'border border-line text-soft',
  VANISHED: 'border border-line text-ink',
} as const
const NAMES_SHOWN = 6

/** SharedRow stands above findings whose events share values of fields, which are the likely cause. */
function SharedRow({ names, number, onEvents }: { names: readonly FindingName[]; number: number; onEvents(where: string): void }) {
  return (
    <p className="flex flex-wrap items-center gap-x-1.5 gap-y-1 bg-sunk px-3 py-1.5 text-xs">
      {names.map((name, at) => (
        <Fragment key={name.where}>
          {at > 0 && <span className="text-soft">and</span>}
          <NameButton name={name} className="font-semibold text-sm" onEvents={onEvents} />
        </Fragment>
      ))}
      <span className="text-soft">{`${names.length > 1 ? 'are' : 'is'} shared by nearly all events of ${number === 1 ? 'this finding' : `these ${number} findings`}`}</span>
    </p>
  )
}

type NameButtonProps = { name: FindingName; className: string; onEvents(where: string): void }

/** Names events and shows them. */
function NameButton({ name, className, onEvents }: NameButtonProps) {
  return (
    <button
      type="button"
      aria-label={`Filter by ${name.label}`}
      title={`Show the events with ${name.where}`}
      className={`max-w-full truncate rounded px-1 text-left font-mono hover:bg-tint hover:underline ${className}`}
      onClick={() => onEvents(name.where)}
    >
      {name.kind === 'PATTERN' ? <Template text={name.label} /> : name.label}
    </button>
  )
}

type FindingRowProps = {
  finding: Finding
  /** isMember findings stand below what they share. */
  isMember: boolean
  scale: number
  onEvents(where: string): void
  /** The parameters of a monitor for the finding. */
  monitor: ReturnType<typeof findingMonitorParams>
}

/** A finding: its names, which lead to its events, its shares before and now as bars, its sentence, and the way to a monitor for it. */
function FindingRow({ finding, isMember, scale, onEvents, monitor }: FindingRowProps) {
  const { change, names, share: now, baseline_share: before, text } = finding
  const hidden = names.length - NAMES_SHOWN
  return (
    <li
      className={`grid gap-x-4 gap-y-1 py-2 pr-3 hover:bg-tint/50 md:grid-cols-[minmax(0,1fr)_16rem_auto] ${isMember ? 'border-l-2 border-l-accent pl-4' : 'pl-3'}`}
    >
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-1.5">
          <span className={`w-10 shrink-0 rounded px-1 text-center text-xs ${changeColors[change]}`}>{changeNames[change]}</span>
          {names.slice(0, NAMES_SHOWN).map((name, at) => (
            <NameButton
              key={`${name.key} ${name.where}`}
              name={name}
              className={at === 0 ? 'font-medium text-sm' : 'border border-line text-soft text-xs'}
              onEvents={onEvents}
            />
          ))}
          {hidden > 0 && <span className="text-soft text-xs">and {hidden} more</span>}
        </div>
        <p className="wrap-anywhere mt-0.5 pl-11.5 text-soft text-xs max-md:pl-0">{text}</p>
      </div>
      <div
        role="img"
        aria-label={`${shareText(before)} before, ${shareText(now)} now`}
        className="grid content-center gap-1 text-xs tabular-nums"
      >
        <ShareBar label="before" share={before} scale={scale} color="bg-bar-info" />
        <ShareBar label="now" share={now} scale={scale} color="bg-accent" />
      </div>
      <Permitted to="monitors_write">
        <Link
          to="/monitors"
          search={monitor}
          aria-label={`Create monitor for ${names[0]?.label ?? finding.where}`}
          title="Create a monitor that alerts when this happens again"
          className={`${buttonClass({ variant: 'quiet', size: 'small' })} self-center justify-self-start`}
        >
          <Icon of={Bell} size="small" /> Create monitor
        </Link>
      </Permitted>
    </li>
  )
}

/** ShareBar is as long as its share of the events, relative to the largest share of all findings. */
function ShareBar({ label, share: part, scale, color }: { label: string; share: number; scale: number; color: string }) {
  return (
    <span className="grid grid-cols-[3rem_minmax(0,1fr)_3.5rem] items-center gap-1.5">
      <span className="text-soft">{label}</span>
      <span className="h-2.5 rounded-sm bg-sunk">
        <span className={`block h-full rounded-sm ${color} ${part > 0 ? 'min-w-0.5' : ''}`} style={{ width: `${(100 * part) / scale}%` }} />
      </span>
      <span className="text-right">{shareText(part)}</span>
    </span>
  )
}

const shareText = (part: number): string => (part === 0 ? '0 %' : share(part, 1))

const reasonTexts = {
  IDENTIFIES_EVENTS: 'identifies single events',
  COUNTER: 'rises with time',
  LONG_TEXT: 'has long texts',
  MANY_VALUES: 'has too many values',
} as const
const SKIPPED_SHOWN = 8

/** Names the fields that were left out for their values. That others promised more needs no word. */
function skippedText(skipped: ChangesReply['skipped']): string {
  const texts = skipped.flatMap(({ key, reason }) => (reason === 'LESS_PROMISING' ? [] : [`${key} ${reasonTexts[reason]}`]))
  if (texts.length === 0) return ''
  const more = texts.length - SKIPPED_SHOWN
  return `Not included: ${texts.slice(0, SKIPPED_SHOWN).join(', ')}${more > 0 ? `, and ${more} more` : ''}. `
}

function timeSpanText({ fromMs, toMs }: TimeSpan, zone: Zone): string {
  const [from, to] = [clockOf(fromMs, zone), clockOf(toMs, zone)]
  return `${from.day} ${from.clock.slice(0, 8)} – ${to.day === from.day ? '' : `${to.day} `}${to.clock.slice(0, 8)}`
}
