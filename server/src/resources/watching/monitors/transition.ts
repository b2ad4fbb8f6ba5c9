import { type Change, changeOf, type Status, statusOf, type Thresholds, worstOf } from './status.ts'

/**
 * A Subject is something receivers hear of: a group, or with `notifyOnce` the monitor as a whole. `told` is the status they were last told;
 * `held` says that a downtime keeps something from them that is to be told at its end if it is still so.
 */
export type Subject = { readonly told: Status; readonly held: boolean }

export type GroupState = Subject & {
  readonly status: Status
  readonly sinceMs: number
  /** seenMs is when the group last had events. */
  readonly seenMs: number
}

/** A MonitorState is all that is remembered from one look to the next; it is plain data. A monitor without groups has the one group ''. */
export type MonitorState = {
  readonly status: Status
  readonly groups: Readonly<Record<string, GroupState>>
  readonly whole: Subject
  readonly lastTriggerMs?: number
}

/** What was Seen: a value for each group that has events, or that the store could not be asked. */
export type Seen =
  | { readonly kind: 'values'; readonly values: Readonly<Record<string, number>> }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Quiet is what keeps notices back at the moment of a look. */
export type Quiet = {
  readonly muted: boolean
  /** downtime is present while one covers the monitor; of several the strictest counts. */
  readonly downtime?: { readonly strategy: 'DELAY' | 'DROP'; readonly suppressRecovery: boolean } | undefined
}

export type Rules = Thresholds & {
  readonly grouped: boolean
  readonly notifyOnce: boolean
  /** groupRetentionMs is how long a group may be silent before it is forgotten; 0 is a day. */
  readonly groupRetentionMs: number
}

/** A Verdict says what became of a change towards receivers, and why nothing was sent if so. */
export type Verdict =
  | 'sent'
  | 'muted'
  | 'held by downtime'
  | 'dropped by downtime'
  | 'recovery suppressed by downtime'
  | 'never told'
  | 'not the first or last group'

/** A Decision is the record of one group at one look. */
export type Decision = {
  readonly group: string
  readonly value?: number
  readonly before: Status
  readonly after: Status
  readonly change?: Change
  readonly verdict?: Verdict
  /** gone marks a group that was silent for too long and is forgotten. */
  readonly gone?: true
}

/** A Notice is to be sent to every action of the monitor; `delayed` ones were held back by a downtime that is over. */
export type Notice = { readonly group: string; readonly change: Change; readonly status: Status; readonly delayed: boolean }

export type Outcome = {
  readonly state: MonitorState
  readonly decisions: readonly Decision[]
  readonly notices: readonly Notice[]
  /** change of the monitor's own status. */
  readonly whole?: { readonly before: Status; readonly after: Status }
}

export const DAY_MS = 86_400_000

const calm: Subject = { told: 'OK', held: false }
/** newState is that of a monitor that never looked. */
export const newState: MonitorState = { status: 'OK', groups: {}, whole: calm }

/**
 * transition decides what a look means: the next state, what is told to whom, and what is kept back and why. It is pure; a look that could not
 * read the store changes and sends nothing.
 */
export function transition(state: MonitorState, seen: Seen, rules: Rules, quiet: Quiet, nowMs: number): Outcome {
  if (seen.kind === 'unreadable') return { state, decisions: [], notices: [] }
  const looked = lookAtGroups(state, seen.values, rules, nowMs)
  const after = worstOf(looked.filter(({ gone }) => !gone).map(({ next }) => next.status)) ?? rules.noDataStatus
  const told = rules.notifyOnce ? tellWhole(state, looked, after, quiet) : tellGroups(looked, state.whole, quiet)
  const triggered = looked.some(({ decision: { change } }) => change === 'ALERT' || change === 'WARN')
  return {
    state: {
      status: after,
      groups: Object.fromEntries(told.groups),
      whole: told.whole,
      ...(triggered ? { lastTriggerMs: nowMs } : state.lastTriggerMs === undefined ? {} : { lastTriggerMs: state.lastTriggerMs }),
    },
    decisions: told.decisions,
    notices: told.notices,
    ...(after === state.status ? {} : { whole: { before: state.status, after } }),
  }
}

type Looked = { group: string; next: GroupState; decision: Decision; gone: boolean }

/** lookAtGroups judges every group that has a value or is remembered, in the order of their names. */
function lookAtGroups(state: MonitorState, values: Readonly<Record<string, number>>, rules: Rules, nowMs: number): Looked[] {
  const names = new Set([...Object.keys(state.groups), ...Object.keys(values), ...(rules.grouped ? [] : [''])])
  const kept = [...names].filter((group) => rules.grouped === (group !== '')).sort()
  return kept.map((group) => {
    const known = state.groups[group]
    const value = values[group]
    const before = known?.status ?? 'OK'
    const seenMs = value === undefined ? (known?.seenMs ?? nowMs) : nowMs
    const gone = rules.grouped && nowMs - seenMs > (rules.groupRetentionMs || DAY_MS)
    const after = gone ? 'OK' : statusOf(value, rules)
    const change = gone ? undefined : changeOf(before, after)
    const next: GroupState = {
      status: after,
      sinceMs: known && before === after ? known.sinceMs : nowMs,
      seenMs,
      told: known?.told ?? 'OK',
      held: known?.held ?? false,
    }
    const decision: Decision = {
      group,
      ...(value === undefined ? {} : { value }),
      before,
      after,
      ...(change === undefined ? {} : { change }),
      ...(gone ? { gone: true as const } : {}),
    }
    return { group, next, decision, gone }
  })
}

type Told = { groups: [string, GroupState][]; whole: Subject; decisions: Decision[]; notices: Notice[] }

function tellGroups(looked: readonly Looked[], whole: Subject, quiet: Quiet): Told {
  const told: Told = { groups: [], whole, decisions: [], notices: [] }
  for (const { group, next, decision, gone } of looked) {
    if (gone) {
      told.decisions.push(decision)
      continue
    }
    const { subject, verdict, notice } = tell(next, decision.change, next.status, quiet)
    told.groups.push([group, { ...next, ...subject }])
    told.decisions.push(verdict === undefined ? decision : { ...decision, verdict })
    if (notice) told.notices.push({ group, ...notice })
  }
  return told
}

/** tellWhole speaks of the monitor once: by the first group that brings its new status, or the last that leaves the old one. */
function tellWhole(state: MonitorState, looked: readonly Looked[], after: Status, quiet: Quiet): Told {
  const { subject, verdict, notice } = tell(state.whole, changeOf(state.status, after), after, quiet)
  const changed = looked.filter(({ decision }) => decision.change !== undefined)
  const speaker =
    changed.find(({ next }) => next.status === after) ??
    changed.findLast(({ decision }) => decision.before === state.status) ??
    looked.find(({ next, gone }) => !gone && next.status === after)
  const isSpoken = notice !== undefined && !notice.delayed
  const silent = (decision: Decision): Decision => ({ ...decision, verdict: 'not the first or last group' })
  return {
    groups: looked.filter(({ gone }) => !gone).map(({ group, next }) => [group, next]),
    whole: subject,
    decisions: looked.map(({ decision }) => {
      if (decision.change === undefined) return decision
      if (decision.group !== speaker?.group || state.status === after) return silent(decision)
      return verdict === undefined ? decision : { ...decision, verdict: isSpoken ? 'sent' : verdict }
    }),
    notices: notice ? [{ group: speaker?.group ?? '', ...notice }] : [],
  }
}

type Telling = { subject: Subject; verdict?: Verdict; notice?: Omit<Notice, 'group'> }

/**
 * tell decides about one subject: what it has changed to now, or what a downtime that is over has kept from receivers. They are told the step
 * from what they know, which a mute or a downtime may have left behind.
 */
function tell({ told, held }: Subject, change: Change | undefined, status: Status, { muted, downtime }: Quiet): Telling {
  const news = changeOf(told, status)
  if (muted) return { subject: { told: status === 'OK' ? 'OK' : told, held: false }, ...(change === undefined ? {} : { verdict: 'muted' }) }
  if (change === undefined) {
    if (!held || downtime || news === undefined) return { subject: { told, held: held && downtime !== undefined } }
    return { subject: { told: status, held: false }, notice: { change: news, status, delayed: true } }
  }
  if (news === undefined) return { subject: { told, held: false }, verdict: 'never told' }
  if (status === 'OK' && downtime?.suppressRecovery) return { subject: calm, verdict: 'recovery suppressed by downtime' }
  if (status !== 'OK' && downtime) {
    const delays = downtime.strategy === 'DELAY'
    return { subject: { told, held: delays }, verdict: delays ? 'held by downtime' : 'dropped by downtime' }
  }
  return { subject: { told: status, held: false }, verdict: 'sent', notice: { change: news, status, delayed: false } }
}
