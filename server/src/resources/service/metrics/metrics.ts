import type { LabeledValue, Meter } from '../../../http/measure.ts'
import { keptReading } from '../../../kernel/kept-reading.ts'
import type { QueryClass, World } from '../../../world.ts'
import { type LateWork, selectLateWork } from './rows.ts'

/** Memory that holds events until they are stored. */
type HeldMemory = { bytes: number; bytesMax: number }

const CLASSES: readonly QueryClass[] = ['caller', 'monitor', 'tail', 'export']
const OUTCOMES = ['received', 'stored', 'duplicate', 'rejected', 'dropped'] as const
const READ_EVERY_MS = 5_000

/** Adds metrics of all that can become full or late: memory for events, queries, and the work of the deployment. */
export function watchWork(
  world: Pick<World, 'admission' | 'clock' | 'ledger' | 'log' | 'meta' | 'writer'>,
  bodies: () => HeldMemory,
  meter: Meter,
): void {
  const { admission, writer } = world
  const held = (): readonly (readonly [string, HeldMemory])[] => [
    ['bodies', bodies()],
    ['unstored', writer.waiting()],
  ]
  meter.gauges('dendro_events_held_bytes', 'Memory for events that are being read, and that wait for the event store', ['stage'], () =>
    held().map(([stage, { bytes }]) => ({ labels: { stage }, value: bytes })),
  )
  meter.gauges('dendro_events_held_bytes_max', 'At this size, senders get 503', ['stage'], () =>
    held().map(([stage, { bytesMax }]) => ({ labels: { stage }, value: bytesMax })),
  )
  meter.gauges('dendro_events_total', 'Events since the start by outcome; received is the sum of the others', ['outcome'], () =>
    OUTCOMES.map((outcome) => ({ labels: { outcome }, value: world.ledger.totals[outcome] })),
  )
  meter.gauge('dendro_events_bytes_total', 'Bytes of received events since the start', () => world.ledger.totals.raw_bytes)
  const queries = (read: (kind: QueryClass) => number) => () => CLASSES.map((kind) => ({ labels: { class: kind }, value: read(kind) }))
  meter.gauges('dendro_queries_running', 'Queries of this process that run', ['class'], queries(admission.running))
  meter.gauges('dendro_queries_waiting', 'Queries of this process that wait for others', ['class'], queries(admission.waiting))
  const late = openLateWork(world)
  const each = (value: (row: LateWork, nowMs: number) => number) => async (): Promise<LabeledValue[]> => {
    const nowMs = world.clock.nowMs()
    return (await late()).map((row) => ({ labels: { work: row.work }, value: value(row, nowMs) }))
  }
  meter.gauges(
    'dendro_work_pending',
    'Work of the deployment that is due: jobs by kind, evaluations of monitors, notifications, forward configs, waiting spans',
    ['work'],
    each(({ pending }) => pending),
  )
  meter.gauges(
    'dendro_work_late_seconds',
    'For how long the oldest of that work has been due',
    ['work'],
    each(({ due_at }, nowMs) => (due_at === null ? 0 : Math.max(0, nowMs - due_at) / 1_000)),
  )
  meter.gauges(
    'dendro_jobs_given_up',
    'Jobs that failed too often and wait for an operator',
    ['work'],
    each(({ given_up }) => given_up),
  )
}

/** Reads at most once in five seconds, for all processes and scrapers that ask. While the metadata store does not answer, nothing is known. */
function openLateWork({ clock, log, meta }: Pick<World, 'clock' | 'log' | 'meta'>): () => Promise<readonly LateWork[]> {
  return keptReading(READ_EVERY_MS, clock, () =>
    selectLateWork(meta, clock.nowMs()).catch((err) => {
      log.debug({ err }, 'late work could not be counted')
      return []
    }),
  )
}
