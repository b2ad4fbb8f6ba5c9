import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS, type MonitorRules, newState, type ObservedValues, type Suppression, transition } from './alert-states.ts'
import { type AlertStatus, changeOf, type StatusTransition, statusOf, worstOf } from './status.ts'

const groups = ['a', 'b', 'c']
const rulesOf = (notifyOnce: boolean): MonitorRules => ({
  operator: 'ABOVE',
  threshold: 10,
  warning: 5,
  noDataStatus: 'NO_DATA',
  grouped: true,
  notifyOnce,
  groupRetentionMs: 5 * 60_000,
})

const seen: fc.Arbitrary<ObservedValues> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.dictionary(fc.constantFrom(...groups), fc.constantFrom(1, 7, 12)).map((values) => ({ kind: 'values' as const, values })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'unreadable' as const, reason: 'away' }) },
)
const suppression: fc.Arbitrary<Suppression> = fc.record({
  muted: fc.boolean(),
  downtime: fc.option(fc.record({ strategy: fc.constantFrom('DELAY' as const, 'DROP' as const), suppressRecovery: fc.boolean() }), {
    nil: undefined,
  }),
})
const silence: Suppression = { muted: false }
const stories = fc.array(fc.tuple(seen, fc.oneof({ weight: 2, arbitrary: fc.constant(silence) }, { weight: 1, arbitrary: suppression })), {
  maxLength: 30,
})
const after: Record<StatusTransition, AlertStatus> = {
  ALERT: 'ALERT',
  WARN: 'WARN',
  ALERT_TO_WARN: 'WARN',
  ALERT_RECOVERY: 'OK',
  WARN_RECOVERY: 'OK',
  NO_DATA: 'NO_DATA',
  NO_DATA_RECOVERY: 'OK',
}

/**
 * The slow reference: it replays the whole history of one group's statuses each time and returns what receivers know after each evaluation, written
 * as the rules are documented.
 */
function believe(history: readonly { status: AlertStatus | undefined; suppression: Suppression }[]): AlertStatus {
  let belief: AlertStatus = 'OK'
  let before: AlertStatus = 'OK'
  let waiting = false
  for (const {
    status,
    suppression: { muted, downtime },
  } of history) {
    if (status === undefined) {
      belief = 'OK'
      before = 'OK'
      waiting = false
      continue
    }
    const changed = status !== before
    const isRecovery = status === 'OK'
    if (muted) {
      waiting = false
      if (isRecovery) belief = 'OK'
    } else if (downtime && !isRecovery) {
      if (changed) waiting = downtime.strategy === 'DELAY' && status !== belief
    } else if (changed) {
      waiting = false
      belief = status
    } else if (waiting && !downtime) {
      waiting = false
      belief = status
    }
    before = status
  }
  return belief
}

test('receivers end up with the status of the history under any mutes and downtimes, and never get a status twice', () => {
  fc.assert(
    fc.property(stories, (story) => {
      let state = newState
      const beliefs = new Map<string, AlertStatus>()
      const histories = new Map<string, { status: AlertStatus | undefined; suppression: Suppression }[]>()
      for (const [index, [see, hush]] of story.entries()) {
        const nowMs = index * 60_000
        const outcome = transition(JSON.parse(JSON.stringify(state)), see, rulesOf(false), hush, nowMs)
        expect(transition(state, see, rulesOf(false), hush, nowMs)).toEqual(outcome)
        for (const { group, change, status } of outcome.notices) {
          expect(change).toBe(changeOf(beliefs.get(group) ?? 'OK', status))
          expect(after[change]).toBe(status)
          expect(outcome.state.groups[group]?.status).toBe(status)
          beliefs.set(group, status)
        }
        if (see.kind === 'unreadable') {
          expect(outcome).toEqual({ state, decisions: [], notices: [] })
          continue
        }
        if (hush.muted) expect(outcome.notices).toEqual([])
        if (hush.downtime) expect(outcome.notices.filter(({ status }) => status !== 'OK')).toEqual([])
        for (const { group, gone, after: status } of outcome.decisions) {
          if (gone) beliefs.delete(group)
          const history = histories.get(group) ?? []
          histories.set(group, [...history, { status: gone ? undefined : status, suppression: hush }])
        }
        for (const [group, { told, status }] of Object.entries(outcome.state.groups)) {
          // A silent change (a recovery under a mute or with suppressed recoveries) is not known to receivers.
          if (status === 'OK') beliefs.delete(group)
          expect(told).toBe(believe(histories.get(group) ?? []))
          expect(beliefs.get(group) ?? 'OK').toBe(told)
        }
        state = outcome.state
      }
    }),
    { numRuns: 3_000 },
  )
})

test('a monitor is in the worst status of its groups, and its groups are those seen within the retention', () => {
  fc.assert(
    fc.property(stories, fc.boolean(), (story, notifyOnce) => {
      let state = newState
      const lastSeen = new Map<string, number>()
      for (const [index, [see, hush]] of story.entries()) {
        const nowMs = index * 60_000
        state = transition(state, see, rulesOf(notifyOnce), hush, nowMs).state
        if (see.kind === 'unreadable') continue
        for (const group of Object.keys(see.values)) lastSeen.set(group, nowMs)
        for (const [group, atMs] of lastSeen) if (nowMs - atMs > rulesOf(false).groupRetentionMs) lastSeen.delete(group)
        expect(Object.keys(state.groups)).toEqual([...lastSeen.keys()].sort())
        expect(state.status).toBe(worstOf(Object.values(state.groups).map(({ status }) => status)) ?? 'NO_DATA')
        for (const [group, value] of Object.entries(see.values)) expect(state.groups[group]?.status).toBe(statusOf(value, rulesOf(false)))
      }
    }),
    { numRuns: 1_000 },
  )
})

test('the last trigger is when a group last entered ALERT or WARN, from whichever status', () => {
  const rules: MonitorRules = { ...rulesOf(false), warning: 5, grouped: false }
  const times = [12, 12, 7, 7, 1, 7].map((value, index) => ({ values: { '': value }, nowMs: index }))
  let state = newState
  const triggers = times.map(({ values, nowMs }) => {
    state = transition(state, { kind: 'values', values }, rules, silence, nowMs).state
    return state.lastTriggerMs
  })
  expect(triggers).toEqual([0, 0, 2, 2, 2, 5])
})

test('notify once speaks exactly when the monitor itself changes, in loud times', () => {
  fc.assert(
    fc.property(fc.array(seen, { maxLength: 30 }), (story) => {
      let state = newState
      for (const [index, see] of story.entries()) {
        const outcome = transition(state, see, rulesOf(true), silence, index * 60_000)
        // An alerting group that is forgotten recovers without a notification.
        const unforgotten = worstOf(outcome.decisions.map(({ gone, before, after: status }) => (gone ? before : status)))
        const isForgotten = unforgotten === state.status && ['ALERT', 'WARN'].includes(state.status)
        expect(outcome.notices.map(({ change }) => change)).toEqual(
          see.kind === 'unreadable' || isForgotten
            ? []
            : [changeOf(state.status, outcome.state.status)].filter((change) => change !== undefined),
        )
        state = outcome.state
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a group without retention of its own is kept for a day', () => {
  const rules = { ...rulesOf(false), groupRetentionMs: 0 }
  const first = transition(newState, { kind: 'values', values: { a: 1 } }, rules, silence, 0).state
  const nothing: ObservedValues = { kind: 'values', values: {} }
  expect(Object.keys(transition(first, nothing, rules, silence, DAY_MS).state.groups)).toEqual(['a'])
  expect(Object.keys(transition(first, nothing, rules, silence, DAY_MS + 1).state.groups)).toEqual([])
})
