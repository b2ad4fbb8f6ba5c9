import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { groupDecision, rulesOf } from './decide.ts'
import { type Definition, definitionOf, membersOf } from './definition.ts'
import type { Sight } from './observation.ts'
import { sightsOver, stepOf } from './past-observations.ts'
import type { Status } from './status.ts'
import { type MonitorState, newState, transition } from './transition.ts'

type Ask = BodyOf<typeof contract.monitors.backtest>
type Backtest = ReplyOf<typeof contract.monitors.backtest>

const DAY_MS = 86_400_000
const LISTED_MAX = 1_000
/** Decisions between two turns of other work. */
const DECISIONS_PER_TURN = 5_000

/** backtest looks with a definition at past days, as if nothing had muted it, and sends nothing. */
export async function backtest(world: World, actor: Actor, ask: Ask, signal: AbortSignal): Promise<Backtest> {
  const definition = definitionOf(membersOf(ask))
  const stepMs = stepOf(definition)
  // Looks end where windows of their step end, so that those of anomalies lie as they lie for a monitor.
  const toMs = Math.floor(world.clock.nowMs() / stepMs) * stepMs
  const looks = Math.max(1, Math.floor((ask.days * DAY_MS) / stepMs))
  const sightAt = await sightsOver(world, actor, definition, { toMs, looks, stepMs }, signal)
  const run = new Run(definition, stepMs)
  for (let at = 0; at < looks; at += 1) {
    run.look(sightAt(at), toMs - (looks - 1 - at) * stepMs)
    if (run.isTurnOver()) {
      await nextTurn()
      signal.throwIfAborted()
    }
  }
  return { from_ts: toMs - looks * stepMs, to_ts: toMs, step_ms: stepMs, looks, ...run.found() }
}

/** Run goes from look to look with the same transition by which monitors live. */
class Run {
  readonly #definition: Definition
  readonly #stepMs: number
  #state: MonitorState = newState
  #decisions = 0
  readonly #events: Backtest['monitor_events'] = []
  readonly #changes: Backtest['changes'] = []
  readonly #notifications: Backtest['notifications'] = []
  #changesTotal = 0
  #notificationsTotal = 0
  readonly #times = new Map<Status, number>()

  constructor(definition: Definition, stepMs: number) {
    this.#definition = definition
    this.#stepMs = stepMs
  }

  look({ judged }: Sight, atMs: number): void {
    const values = Object.fromEntries([...judged].map(([group, { value }]) => [group, value]))
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
      if (this.#changes.length < LISTED_MAX) this.#changes.push({ time: atMs, ...groupDecision(decision, judged) })
    }
    for (const { group, change, status, delayed } of outcome.notices) {
      this.#notificationsTotal += 1
      if (this.#notifications.length >= LISTED_MAX) continue
      this.#notifications.push({ time: atMs, group_id: group, transition: change, monitor_status: status, delayed })
    }
  }

  isTurnOver(): boolean {
    if (this.#decisions < DECISIONS_PER_TURN) return false
    this.#decisions = 0
    return true
  }

  found() {
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
