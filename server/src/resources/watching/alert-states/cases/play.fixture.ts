import { type DowntimeTimes, isDowntime, type DowntimeWeekday, weekdays } from '../../downtimes/downtime-times.ts'
import type { ComparisonOperator, AlertStatus } from '../status.ts'
import { type MonitorState, newState, type StateTransition, type Suppression, type MonitorRules, type ObservedValues, transition } from '../alert-states.ts'

/**
 * A story of one monitor as a table, readable as documentation:
 *
 *     ## What it shows
 *     monitor ABOVE 10, warning 5, by group, notify once, no data OK, retention 10m
 *     zone Europe/Berlin
 *     downtime 10:05 to 10:20, DELAY, suppress recovery
 *     10:00 | web 3, db 12 | web OK, db ALERT | db ALERT
 *     10:01 mute until 10:10
 *     10:02 restart
 *
 * A row has the time, the observed values, the statuses afterwards, the notifications, and the reasons why others were suppressed. Times are on
 * Monday, 2 March 2026, unless a line `date` sets another day, and in UTC unless a line `zone` precedes them.
 */
export type MonitorScenario = { readonly title: string; readonly lines: readonly string[] }

type Downtime = DowntimeTimes & { strategy: 'DELAY' | 'DROP'; suppressRecovery: boolean }
type Stage = { rules: MonitorRules; zone: string; date: string; downtimes: Downtime[]; mutedUntilMs: number; state: MonitorState }

const MINUTE_MS = 60_000
const FOR_EVER = Number.POSITIVE_INFINITY

export function readScenarios(text: string): MonitorScenario[] {
  const stories = text.split(/^## /m).slice(1)
  return stories.map((story) => {
    const [title = '', ...lines] = story.split('\n').map((line) => line.trim())
    return { title, lines: lines.filter((line) => line !== '' && !line.startsWith('#')) }
  })
}

/** Runs a scenario and returns its lines as they should have been written. */
export function play({ lines }: MonitorScenario): string[] {
  const stage: Stage = {
    rules: { operator: 'ABOVE', threshold: 0, noDataStatus: 'NO_DATA', grouped: false, notifyOnce: false, groupRetentionMs: 0 },
    zone: 'UTC',
    date: '2026-03-02',
    downtimes: [],
    mutedUntilMs: 0,
    state: newState,
  }
  return lines.map((line) => playLine(stage, line))
}

function playLine(stage: Stage, line: string): string {
  const [word = '', ...rest] = line.split(' ')
  const args = rest.join(' ')
  if (word === 'monitor') stage.rules = readRules(args)
  else if (word === 'zone') stage.zone = args
  else if (word === 'date') stage.date = args
  else if (word === 'downtime') stage.downtimes.push(readDowntime(stage, args))
  else if (word === 'end') stage.downtimes = []
  else if (line.includes('|')) return playRow(stage, line)
  else act(stage, word, args)
  return line
}

function readRules(text: string): MonitorRules {
  const words = text.split(', ')
  const [operator, threshold] = (words[0] ?? '').split(' ')
  const after = (start: string) => words.find((each) => each.startsWith(start))?.slice(start.length)
  const warning = after('warning ')
  return {
    operator: operator as ComparisonOperator,
    threshold: Number(threshold),
    ...(warning === undefined ? {} : { warning: Number(warning) }),
    noDataStatus: (after('no data ') ?? 'NO_DATA') as AlertStatus,
    grouped: words.includes('by group'),
    notifyOnce: words.includes('notify once'),
    groupRetentionMs: Number(after('retention ')?.replace('m', '') ?? 0) * MINUTE_MS,
  }
}

function readDowntime(stage: Stage, text: string): Downtime {
  const words = text.split(', ')
  const [times = ''] = words
  const daily = times.startsWith('daily ')
  const [from = '', to = ''] = times.replace('daily ', '').split(' to ')
  const kept = { strategy: words.includes('DROP') ? ('DROP' as const) : ('DELAY' as const), suppressRecovery: words.includes('suppress recovery') }
  if (!daily) return { ...kept, static_time_range: { from: timeOf(stage, from), to: timeOf(stage, to) } }
  const repeat_days = words.filter((each): each is DowntimeWeekday => weekdays.some((day) => day === each))
  const range = { from_minute_of_day: minuteOf(from), to_minute_of_day: minuteOf(to), invert: words.includes('inverted'), repeat_days }
  return { ...kept, dynamic_time_range: range }
}

const minuteOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))
/** Parses a time of the scenario's day, or a whole date, always in UTC. */
const timeOf = ({ date }: Stage, text: string): number => Date.parse(text.includes('-') ? `${text.replace(' ', 'T')}Z` : `${date}T${text}:00Z`)

function act(stage: Stage, clock: string, deed: string): void {
  if (deed === 'restart') stage.state = JSON.parse(JSON.stringify(stage.state))
  else if (deed === 'unmute') stage.mutedUntilMs = 0
  else if (deed === 'mute for ever') stage.mutedUntilMs = FOR_EVER
  else if (deed.startsWith('mute until ')) stage.mutedUntilMs = timeOf(stage, deed.slice('mute until '.length))
  else throw new Error(`a scenario does not know: ${clock} ${deed}`)
}

function playRow(stage: Stage, line: string): string {
  const [clock = '', observedText = ''] = line.split('|').map((cell) => cell.trim())
  const nowMs = timeOf(stage, clock)
  const on = stage.downtimes.filter((downtime) => isDowntime(downtime, nowMs, stage.zone))
  const suppression: Suppression = {
    muted: nowMs < stage.mutedUntilMs,
    downtime: on.length === 0 ? undefined : { strategy: on.some(({ strategy }) => strategy === 'DROP') ? 'DROP' : 'DELAY', suppressRecovery: on.some((each) => each.suppressRecovery) },
  }
  const outcome = transition(stage.state, readObserved(observedText), stage.rules, suppression, nowMs)
  stage.state = outcome.state
  return [clock, observedText, ...shown(outcome, stage.rules)].join(' | ').trimEnd()
}

function readObserved(text: string): ObservedValues {
  if (text === 'unreadable') return { kind: 'unreadable', reason: 'the store did not answer' }
  const pairs = text.split(', ').filter((each) => each !== '' && each !== '-')
  const values = pairs.map((pair) => {
    const at = pair.lastIndexOf(' ')
    return [at < 0 ? '' : pair.slice(0, at), Number(pair.slice(at + 1))] as const
  })
  return { kind: 'values', values: Object.fromEntries(values) }
}

function shown({ state, decisions, notices }: StateTransition, { grouped, notifyOnce }: MonitorRules): string[] {
  const named = (group: string, word: string) => (group === '' ? word : `${group} ${word}`)
  const statuses = Object.entries(state.groups).map(([group, { status }]) => named(group, status))
  const whole = grouped && (notifyOnce || statuses.length === 0) ? [`all ${state.status}`] : []
  const sent = notices.map(({ group, change, delayed }) => named(group, delayed ? `${change} late` : change))
  const kept = decisions.filter(({ verdict, gone }) => gone || (verdict !== undefined && verdict !== 'sent'))
  return [
    [...statuses, ...whole].join(', '),
    sent.join(', '),
    kept.map(({ group, verdict, gone }) => named(group, gone ? 'forgotten' : (verdict ?? ''))).join(', '),
  ]
}
