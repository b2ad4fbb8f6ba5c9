import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { nextStep } from '../../../kernel/steps.ts'
import type { World } from '../../../world.ts'
import { type AlertStatus, type MonitorState, newState, transition } from '../alert-states/alert-states.ts'
import { columnsFromDraft, definitionOf, type MonitorDefinition } from '../monitor-definitions/monitor-definitions.ts'
import { type MonitorObservation, observePast, stepOf } from '../observations/observations.ts'
import { groupDecision, rulesOf } from './decide.ts'

type BacktestRequest = BodyOf<typeof contract.monitors.backtest>
type Backtest = ReplyOf<typeof contract.monitors.backtest>

const DAY_MS = 86_400_000
const LISTED_MAX = 1_000
/** The number of decisions after which the run yields to the event loop. */
const DECISIONS_PER_YIELD = 5_000

/** Evaluates a definition over past days as if nothing were muted, and sends nothing. */
export async function backtest(world: World, actor: Actor, request: BacktestRequest, signal: AbortSignal): Promise<Backtest> {
  const definition = definitionOf(columnsFromDraft(request))
  const stepMs = stepOf(definition)
  // Evaluations end at multiples of the step, so that anomaly windows align as they do for a live monitor.
  const toMs = Math.floor(world.clock.nowMs() / stepMs) * stepMs
  const evaluations = Math.max(1, Math.floor((request.days * DAY_MS) / stepMs))
  const observationAt = await observePast(world, actor, definition, { toMs, count: evaluations, stepMs }, signal)
  const run = new BacktestRun(definition, stepMs)
  for (let at = 0; at < evaluations; at += 1) {
    run.evaluate(observationAt(at), toMs - (evaluations - 1 - at) * stepMs)
    if (run.mustYield()) {
      await nextStep()
      signal.throwIfAborted()
    }
  }
  return { from_ts: toMs - evaluations * stepMs, to_ts: toMs, step_ms: stepMs, looks: evaluations, ...run.result() }
}

/** Runs past evaluations through the same transition as live ones and collects the results. */
class BacktestRun {
  readonly #definition: MonitorDefinition
  readonly #stepMs: number
  #state: MonitorState = newState
  #decisions = 0
  readonly #events: Backtest['monitor_events'] = []
  readonly #changes: Backtest['changes'] = []
  readonly #notifications: Backtest['notifications'] = []
  #changesTotal = 0
  #notificationsTotal = 0
  readonly #times = new Map<AlertStatus, number>()

  constructor(definition: MonitorDefinition, stepMs: number) {
    this.#definition = definition
    this.#stepMs = stepMs
  }

  evaluate({ compared }: MonitorObservation, atMs: number): void {
    const values = Object.fromEntries([...compared].map(([group, { value }]) => [group, value]))
    const outcome = transition(this.#state, { kind: 'values', values }, rulesOf(this.#definition), { muted: false }, atMs)
    this.#state = outcome.state
    this.#decisions += outcome.decisions.length + 1
    this.#times.set(outcome.state.status, (this.#times.get(outcome.state.status) ?? 0) + this.#stepMs)
    const { whole } = outcome
    if (whole && this.#events.length < LISTED_MAX) {
      this.#events.push({ time: atMs, monitor_status: whole.after, previous_status: whole.before })
    }
    for (const decision of outcome.decisions) {
      if (decision.change === undefined && !decision.gone) continue
      this.#changesTotal += 1
      if (this.#changes.length < LISTED_MAX) this.#changes.push({ time: atMs, ...groupDecision(decision, compared) })
    }
    for (const { group, change, status, delayed } of outcome.notices) {
      this.#notificationsTotal += 1
      if (this.#notifications.length >= LISTED_MAX) continue
      this.#notifications.push({ time: atMs, group_id: group, transition: change, monitor_status: status, delayed })
    }
  }

  mustYield(): boolean {
    if (this.#decisions < DECISIONS_PER_YIELD) return false
    this.#decisions = 0
    return true
  }

  result() {
    return {
      monitor_events: this.#events,
      changes: this.#changes,
      notifications: this.#notifications,
      time_in_status: Object.fromEntries(this.#times),
      changes_total: this.#changesTotal,
      notifications_total: this.#notificationsTotal,
    }
  }
}
