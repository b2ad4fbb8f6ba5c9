import type { Downtime } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badRequest, Failure, unavailable } from '../../../kernel/errors.ts'
import { oncePerObject } from '../../../kernel/once-per-object.ts'
import type { World } from '../../../world.ts'
import { isValidState, type Suppression } from '../alert-states/alert-states.ts'
import { allDowntimes, DOWNTIME_ZONE, isDowntime } from '../downtimes/downtimes.ts'
import { targetsOf } from '../integrations/integrations.ts'
import {
  definitionOf,
  type MonitorDefinition,
  type MonitorRow,
  monitorActor,
  type StateRow,
} from '../monitor-definitions/monitor-definitions.ts'
import { allMonitors } from '../monitors/monitors.ts'
import { queueNotifications } from '../notifications/notifications.ts'
import {
  type MonitorObservation,
  observe,
  readSeries,
  type SeriesMeasures,
  seriesFor,
  type WindowSeries,
} from '../observations/observations.ts'
import { BatchSources } from './batch-sources.ts'
import { decide, type EvaluationInput, type EvaluationOutcome, undecidedEvaluation } from './decide.ts'
import { INTERVAL_MS } from './interval.ts'
import { type EvaluationWrite, insertEvent, insertGroupHistory, writeEvaluations } from './rows.ts'
import { ScanSizes } from './scan-sizes.ts'
import { type FailedReading, groupIntoScans, readScan, type SeriesRequest, sourceKey, windowsKey } from './shared-scans.ts'
import { type Gap, gapsOf, reasonOfGap } from './time-gaps.ts'

/**
 * Allows for events in transit: windows end this long before now. Later events still count if a later window covers them. The first
 * evaluation of a new definition reaches to now.
 */
const SETTLE_MS = 5_000
/** The delay before an evaluation that could not read events is retried. */
const RETRY_MS = 15_000
/** Concurrent statements of one process in the event store. */
const SCANS_AT_ONCE = 2
/** The maximum number of groups of a monitor in one window. */
const GROUPS_MAX = 20_000
/** Bounds the cache of anomaly baselines, one entry for each series. */
const BASELINES_MAX = 5_000

/** An evaluation with the state it was claimed with, and the datasets that its monitor reads for the first time. */
type ClaimedEvaluation = { readonly input: EvaluationInput; readonly claimed: StateRow; readonly moreReads?: readonly string[] }

type PreparedEvaluation = {
  readonly claimed: StateRow
  readonly monitor: MonitorRow
  readonly actor: Actor
  readonly definition: MonitorDefinition
  readonly toMs: number
  readonly now: readonly SeriesRequest[]
  readonly earlier: readonly SeriesRequest[]
}

/** Rows stay the same until a monitor of the organization changes. */
const parsedDefinition = oncePerObject((monitor: MonitorRow): MonitorDefinition => definitionOf(monitor))

/** Evaluates claimed monitors. It caches the baselines of anomaly monitors while they stay valid. */
export class Evaluator {
  readonly #world: World
  readonly #earlier = new Map<string, Promise<SeriesMeasures>>()
  readonly #absence: Gap | undefined
  readonly #scanSizes: ScanSizes
  /** Monitors by id for each list of an organization; the list stays the same until one of them changes. */
  readonly #byId = new WeakMap<readonly MonitorRow[], ReadonlyMap<string, MonitorRow>>()

  /** `absence` is a long time before this process in which no process evaluated monitors. */
  constructor(world: World, absence?: Gap) {
    this.#world = world
    this.#scanSizes = new ScanSizes(() => world.clock.nowMs())
    this.#absence = absence
  }

  /** Evaluates each monitor and stores the results. Monitors with equal queries share a scan. */
  async evaluateAll(claimed: readonly StateRow[], signal: AbortSignal): Promise<void> {
    const nowMs = this.#world.clock.nowMs()
    const sources = new BatchSources(this.#world)
    const prepared = await Promise.all(claimed.map((state) => this.#prepare(state, nowMs, sources)))
    const evaluations: ClaimedEvaluation[] = []
    const requests = prepared.filter((one): one is PreparedEvaluation => one !== undefined && 'now' in one)
    const readings = await this.#readAll(requests, signal)
    signal.throwIfAborted()
    for (const one of prepared) {
      if (!one) continue
      evaluations.push(
        'now' in one ? await this.#inputOf(one, readings, nowMs).catch((thrown: unknown) => this.#failed(one, nowMs, thrown)) : one,
      )
    }
    await this.#write(evaluations)
  }

  async #prepare(claimed: StateRow, nowMs: number, sources: BatchSources): Promise<PreparedEvaluation | ClaimedEvaluation | undefined> {
    const world = this.#world
    const monitor = await this.#monitorOf(claimed)
    if (!monitor) return undefined
    const toMs = claimed.is_new ? nowMs + 1 : nowMs - SETTLE_MS
    try {
      const definition = parsedDefinition(monitor)
      const gaps = gapsOf(world.clock.report?.(), this.#absence)
      const incomplete = reasonOfGap(gaps, { fromMs: toMs - definition.windowMs, toMs, nowMs })
      if (incomplete !== undefined) throw unavailable(incomplete)
      const actor = await monitorActor(world, monitor)
      const { now, earlier } = seriesFor(definition, toMs)
      const request = async (series: WindowSeries): Promise<SeriesRequest> => ({
        series,
        actor,
        datasets: await sources.of(actor, series),
      })
      return {
        claimed,
        monitor,
        actor,
        definition,
        toMs,
        now: await Promise.all(now.map(request)),
        earlier: await Promise.all(earlier.map(request)),
      }
    } catch (thrown) {
      return { claimed, input: this.#failedInput(claimed, monitor, toMs, nowMs, thrown) }
    }
  }

  /** Returns undefined for a monitor that cannot be loaded: only its own organization waits, until the lease runs out. */
  async #monitorOf({ org_id, monitor_id }: StateRow): Promise<MonitorRow | undefined> {
    const monitors = await allMonitors(this.#world, org_id).catch((err: unknown) => {
      this.#world.log.warn({ err, org_id, monitor_id }, 'a monitor could not be loaded')
      return []
    })
    let byId = this.#byId.get(monitors)
    if (!byId) {
      byId = new Map(monitors.map((monitor) => [monitor.id, monitor]))
      this.#byId.set(monitors, byId)
    }
    return byId.get(monitor_id)
  }

  /** An evaluation that changes nothing and records the reason. */
  #failedInput(claimed: StateRow, monitor: MonitorRow, toMs: number, nowMs: number, thrown: unknown): EvaluationInput {
    const definition = placeholderDefinition(monitor)
    const suppression = { muted: isMuted(monitor, nowMs) }
    const observed = { reason: this.#reasonOf(thrown, monitor) }
    return { monitor, definition, before: claimed, observed, suppression, fromMs: toMs, toMs, nowMs, missed: missedOf(claimed, nowMs) }
  }

  #reasonOf(thrown: unknown, { id, org_id }: MonitorRow): string {
    if (thrown instanceof Failure) return thrown.message
    this.#world.log.warn({ err: thrown, monitor_id: id, org_id }, 'a monitor could not be evaluated')
    return 'the event store could not be read'
  }

  #failed({ claimed, monitor, toMs }: PreparedEvaluation, nowMs: number, thrown: unknown): { input: EvaluationInput; claimed: StateRow } {
    return { claimed, input: this.#failedInput(claimed, monitor, toMs, nowMs, thrown) }
  }

  /** An evaluation that cannot be decided, such as one with a damaged state, must not stop the rest of the batch. */
  #outcomeOf(input: EvaluationInput): EvaluationOutcome {
    try {
      return isValidState(input.before.state) ? decide(input, this.#world.ids.uuid) : undecidedEvaluation(input)
    } catch (err) {
      const { id, org_id } = input.monitor
      this.#world.log.error({ err, monitor_id: id, org_id }, 'the result of a monitor could not be evaluated')
      return undecidedEvaluation(input)
    }
  }

  /** Reads all series, each scan once. A failed scan fails all series that share it. */
  async #readAll(
    prepared: readonly PreparedEvaluation[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<WindowSeries, SeriesMeasures | FailedReading>> {
    const found = new Map<WindowSeries, SeriesMeasures | FailedReading>()
    const requests: SeriesRequest[] = []
    for (const { now, earlier, definition, monitor } of prepared) {
      requests.push(...now)
      const isCached = definition.kind.kind === 'anomaly'
      for (const one of earlier) {
        if (!isCached) requests.push(one)
        else found.set(one.series, await this.#earlierReading(monitor, one, signal).catch((thrown: unknown) => ({ thrown })))
      }
    }
    const waiting = groupIntoScans(requests, this.#scanSizes)
    const work = async (): Promise<void> => {
      for (let scan = waiting.pop(); scan; scan = waiting.pop()) {
        for (const [series, reading] of await readScan(this.#world, scan, signal, this.#scanSizes)) found.set(series, reading)
      }
    }
    await Promise.all(Array.from({ length: SCANS_AT_ONCE }, work))
    return found
  }

  /** Reads the baseline of a series once per window. */
  async #earlierReading(monitor: MonitorRow, requests: SeriesRequest, signal: AbortSignal): Promise<SeriesMeasures> {
    const { series, datasets, actor } = requests
    const key = [monitor.id, sourceKey(requests), windowsKey(series), JSON.stringify(series.query.call.call)].join(' ')
    const known = this.#earlier.get(key)
    if (known) return known
    if (this.#earlier.size >= BASELINES_MAX) this.#earlier.clear()
    const reading = readSeries(this.#world, actor, [series], datasets, signal).then(([only]) => only ?? [])
    this.#earlier.set(key, reading)
    reading.catch(() => this.#earlier.delete(key))
    return reading
  }

  async #inputOf(
    prepared: PreparedEvaluation,
    readings: ReadonlyMap<WindowSeries, SeriesMeasures | FailedReading>,
    nowMs: number,
  ): Promise<ClaimedEvaluation> {
    const { claimed, monitor, definition, toMs, now, earlier } = prepared
    const all = [...now, ...earlier].map(({ series }) => readings.get(series) ?? [])
    const failed = all.find((reading) => 'thrown' in reading)
    if (failed && 'thrown' in failed) return { claimed, input: this.#failedInput(claimed, monitor, toMs, nowMs, failed.thrown) }
    const read = all as readonly SeriesMeasures[]
    const observation: MonitorObservation = observe(definition, read.slice(0, now.length), read.slice(now.length))
    if (observation.compared.size > GROUPS_MAX) {
      const crowded = badRequest(`there are more than ${GROUPS_MAX} groups in the window; group by a key with fewer values`)
      return { claimed, input: this.#failedInput(claimed, monitor, toMs, nowMs, crowded) }
    }
    const logIds = new Set(now.flatMap(({ datasets, series }) => [...datasets.map(({ id }) => id), ...(series.query.query.from ?? [])]))
    const suppression: Suppression = {
      muted: isMuted(monitor, nowMs),
      downtime: downtimeOf(await allDowntimes(this.#world, monitor.org_id), monitor, logIds, nowMs),
    }
    const window = { fromMs: toMs - definition.windowMs, toMs, nowMs, missed: missedOf(claimed, nowMs) }
    const known = new Set(claimed.reads)
    const moreReads = new Set([...now, ...earlier].flatMap(({ datasets }) => datasets.map(({ id }) => id)).filter((id) => !known.has(id)))
    return {
      claimed,
      moreReads: [...moreReads],
      input: { monitor, definition, before: claimed, observed: { observation }, suppression, ...window },
    }
  }

  /**
   * Stores evaluations without events in one statement, and each other one in a transaction of its own. A failed write affects only its own
   * monitor: the lease runs out, and the evaluation is repeated.
   */
  async #write(evaluations: readonly ClaimedEvaluation[]): Promise<void> {
    const { meta, log } = this.#world
    const rows = evaluations.map((evaluation) => {
      const { input } = evaluation
      const result = this.#outcomeOf(input)
      return { input, result, row: rowOf(evaluation, result) }
    })
    const lost = (row: EvaluationWrite) => (err: unknown) =>
      log.warn({ err, monitor_id: row.monitor_id }, 'an evaluation could not be stored')
    const suppression = rows.filter(({ result }) => !isEventful(result)).map(({ row }) => row)
    if (suppression.length > 0) {
      await writeEvaluations(meta, suppression).catch(async () => {
        for (const row of suppression) await writeEvaluations(meta, [row]).catch(lost(row))
      })
    }
    for (const { input, result, row } of rows) {
      if (isEventful(result)) await this.#writeEventful(input, result, row).catch(lost(row))
    }
  }

  /** Writes nothing if another process has taken over the lease. */
  async #writeEventful(
    { monitor, nowMs }: EvaluationInput,
    { outcome, occasions, message }: EvaluationOutcome,
    row: EvaluationWrite,
  ): Promise<void> {
    const { meta, ids } = this.#world
    await meta.write(monitor.org_id, async (tx) => {
      const written = await writeEvaluations(tx, [row])
      if (written.length === 0) return
      const key = { org_id: monitor.org_id, monitor_id: monitor.id, time: nowMs }
      const changed = outcome.decisions.filter(({ change, gone }) => change !== undefined || gone)
      if (changed.length > 0)
        await insertGroupHistory(
          tx,
          key,
          changed.map(({ group, after }) => ({ group_id: group, status: after })),
        )
      const eventId = outcome.whole ? ids.uuid() : null
      if (outcome.whole && eventId !== null) {
        const { before, after } = outcome.whole
        await insertEvent(tx, { ...key, id: eventId, monitor_status: after, previous_status: before, message: message ?? null })
      }
      const targets = occasions.length === 0 ? [] : await targetsOf(tx, monitor.org_id, monitor.actions)
      for (const occasion of occasions) {
        const notified = { orgId: monitor.org_id, monitorId: monitor.id, eventId: eventId ?? undefined, occasion, targets, isTest: false }
        await queueNotifications(this.#world, tx, notified)
      }
    })
  }
}

const isEventful = ({ outcome, occasions }: EvaluationOutcome): boolean =>
  occasions.length > 0 || outcome.whole !== undefined || outcome.decisions.some(({ change, gone }) => change !== undefined || gone)

function rowOf({ input, claimed, moreReads = [] }: ClaimedEvaluation, result: EvaluationOutcome): EvaluationWrite {
  const { monitor, fromMs, toMs, nowMs, missed, observed } = input
  const {
    outcome: { state },
    alerts,
    record,
    isChange,
    isUndecided,
  } = result
  const isFailed = isUndecided || 'reason' in observed
  return {
    org_id: monitor.org_id,
    monitor_id: monitor.id,
    fence: claimed.fence,
    status: isUndecided ? claimed.status : state.status,
    state,
    alerts,
    last_trigger_ts: isUndecided ? claimed.last_trigger_ts : (state.lastTriggerMs ?? null),
    is_new: claimed.is_new && isFailed,
    due_at: nowMs + (isFailed ? RETRY_MS : INTERVAL_MS),
    time: nowMs,
    from_ts: fromMs,
    to_ts: toMs,
    missed,
    is_change: isChange,
    record,
    more_reads: [...moreReads],
  }
}

/** Whole intervals since the evaluation was due. */
const missedOf = ({ due_at }: StateRow, nowMs: number): number => Math.max(0, Math.floor((nowMs - due_at) / INTERVAL_MS))

const isMuted = ({ muted_until }: MonitorRow, nowMs: number): boolean => muted_until !== null && (muted_until < 0 || muted_until > nowMs)

/** Combines the downtimes that cover the monitor now; the strictest applies. */
function downtimeOf(
  downtimes: readonly Downtime[],
  { id }: MonitorRow,
  logIds: ReadonlySet<string>,
  nowMs: number,
): Suppression['downtime'] {
  const on = downtimes.filter(
    (downtime) => downtime.from.some((covered) => covered === id || logIds.has(covered)) && isDowntime(downtime, nowMs, DOWNTIME_ZONE),
  )
  if (on.length === 0) return undefined
  return {
    strategy: on.some(({ alert_strategy }) => alert_strategy === 'DROP') ? 'DROP' : 'DELAY',
    suppressRecovery: on.some(({ suppress_recovery_alert }) => suppress_recovery_alert),
  }
}

/** A placeholder for a definition that cannot be parsed; nothing is evaluated with it. */
const placeholderDefinition = (monitor: MonitorRow): MonitorDefinition => ({
  planned: { queries: [], formulas: [] },
  windowMs: 0,
  kind: { kind: 'value' },
  groups: [],
  rules: {
    operator: monitor.comparison_operator,
    threshold: monitor.threshold,
    noDataStatus: monitor.no_data_status,
    grouped: false,
    notifyOnce: monitor.notify_once,
    groupRetentionMs: 0,
  },
})
