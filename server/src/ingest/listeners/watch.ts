import type { LabeledValue, Meter } from '../../http/measure.ts'
import type { HealthChecks } from '../../resources/service/health/health.ts'
import type { World } from '../../world.ts'
import type { ListenerCounters } from './counters.ts'
import type { Listeners } from './listeners.ts'

type Counted = Pick<Listeners, 'counters'>

/** Adds metrics of the listeners. */
export function watchListeners(listeners: Counted, meter: Meter): void {
  const each = (read: (counters: ListenerCounters) => LabeledValue[]) => () => listeners.counters().flatMap(read)
  meter.gauges(
    'dendro_listener_connections',
    'Open connections of a listener',
    ['listener'],
    each(({ name: listener, connections }) => [{ labels: { listener }, value: connections }]),
  )
  meter.gauges(
    'dendro_listener_messages',
    'Messages that a listener has taken since the start',
    ['listener'],
    each(({ name: listener, messages }) => [{ labels: { listener }, value: messages }]),
  )
  meter.gauges(
    'dendro_listener_dropped',
    'Messages of a listener that are not stored, by reason; kernel counts datagrams that the system dropped',
    ['listener', 'reason'],
    each(({ name: listener, dropped }) => [...dropped].map(([reason, value]) => ({ labels: { listener, reason }, value }))),
  )
  meter.gauges(
    'dendro_listener_closed',
    'Connections that a listener has closed, by reason',
    ['listener', 'reason'],
    each(({ name: listener, closed }) => [...closed].map(([reason, value]) => ({ labels: { listener, reason }, value }))),
  )
}

/** A loss is a problem for this long after it was noticed. */
const PROBLEM_MS = 10 * 60_000

/** Adds recent losses of the listeners to the problems of the service. */
export function withListeners(health: HealthChecks, listeners: Counted, { clock }: Pick<World, 'clock'>): HealthChecks {
  const noticed = new Map<ListenerCounters, { dropped: number; atMs: number }>()
  const losses = (): string[] =>
    listeners.counters().flatMap((counters) => {
      const nowMs = clock.monotonicMs()
      const before = noticed.get(counters)
      const last = counters.droppedTotal > (before?.dropped ?? 0) ? { dropped: counters.droppedTotal, atMs: nowMs } : before
      if (last) noticed.set(counters, last)
      return last && nowMs - last.atMs < PROBLEM_MS ? [lossOf(counters)] : []
    })
  return { ...health, problems: async () => [...(await health.problems()), ...losses()] }
}

const lossOf = ({ name, dropped }: ListenerCounters): string => {
  const reasons = [...dropped].filter(([, count]) => count > 0).map(([reason, count]) => `${count} ${reason}`)
  return `the listener ${name} has lost messages since the start: ${reasons.join(', ')}`
}
