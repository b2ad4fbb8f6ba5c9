import type { Downtime } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badRequest, Failure, unavailable } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { allDowntimes } from '../downtimes/downtimes.ts'
import { targetsOf } from '../integrations/integrations.ts'
import type { MonitorRow, Quiet, StateRow } from '../monitors/monitors.ts'
import {
  allMonitors,
  type Definition,
  decide,
  definitionOf,
  INTERVAL_MS,
  isDowntime,
  isSoundState,
  type Look,
  type Reading,
  readSeries,
  type Series,
  type Sight,
  seriesFor,
  sightOf,
  sourcesOf,
  undecided,
  type Verdict,
  watcherFor,
} from '../monitors/monitors.ts'
import { writeNotifications } from '../notifications/notifications.ts'
import { insertEvent, insertGroupHistory, type LookRow, writeLooks } from './rows.ts'
import { type Asked, type Failed, questionKey, readScan, scansOf, windowsKey } from './shared-scans.ts'
import { type Gap, gapsOf, reasonOfGap } from './time-gaps.ts'

/**
 * SETTLE_MS is how long events may be on their way: a look ends so long before now. Later ones still count as long as they lie in the window of
 * a later look. The first look at a new definition reaches to now.
 */
const SETTLE_MS = 5_000
/** AGAIN_MS is when a look is tried again that could not read the store. */
const AGAIN_MS = 15_000
/** SCANS_AT_ONCE is how many statements a process has in the event store for its monitors. */
const SCANS_AT_ONCE = 2
/** GROUPS_MAX is how many groups a monitor may have in one window. */
const GROUPS_MAX = 20_000
/** REMEMBERED_MAX bounds what is remembered of anomalies: one reading of earlier windows each. */
const REMEMBERED_MAX = 5_000

/** The zone of an organisation is UTC, as it has none of its own. */
const ZONE = 'UTC'

/** A Taken look is one with what it was claimed as, and the datasets that it read and no look of its monitor before. */
type Taken = { readonly look: Look; readonly claimed: StateRow; readonly moreReads?: readonly string[] }

type Prepared = {
  readonly claimed: StateRow
  readonly monitor: MonitorRow
  readonly actor: Actor
  readonly definition: Definition
  readonly toMs: number
  readonly now: readonly Asked[]
  readonly earlier: readonly Asked[]
}

/** Looker looks with monitors that were claimed; what earlier windows of anomalies gave it remembers for as long as it stays true. */
export class Looker {
  readonly #world: World
  readonly #earlier = new Map<string, Promise<Reading>>()
  readonly #absence: Gap | undefined

  /** absence is the time before this process in which no process evaluated monitors, if it was long. */
  constructor(world: World, absence?: Gap) {
    this.#world = world
    this.#absence = absence
  }

  /** lookAll looks with each monitor and writes down what that means; monitors whose questions are alike share a scan. */
  async lookAll(claimed: readonly StateRow[], signal: AbortSignal): Promise<void> {
    const nowMs = this.#world.clock.nowMs()
    const prepared = await Promise.all(claimed.map((state) => this.#prepare(state, nowMs)))
    const looks: Taken[] = []
    const asked = prepared.filter((one): one is Prepared => one !== undefined && 'now' in one)
    const readings = await this.#readAll(asked, signal)
    signal.throwIfAborted()
    for (const one of prepared) {
      if (!one) continue
      looks.push('now' in one ? await this.#lookOf(one, readings, nowMs).catch((thrown: unknown) => this.#failed(one, nowMs, thrown)) : one)
    }
    await this.#write(looks)
  }

  async #prepare(claimed: StateRow, nowMs: number): Promise<Prepared | Taken | undefined> {
    const world = this.#world
    const monitor = await this.#monitorOf(claimed)
    if (!monitor) return undefined
    const toMs = claimed.is_new ? nowMs + 1 : nowMs - SETTLE_MS
    try {
      const definition = definitionOf(monitor)
      const gaps = gapsOf(world.clock.report?.(), this.#absence)
      const incomplete = reasonOfGap(gaps, { fromMs: toMs - definition.windowMs, toMs, nowMs })
      if (incomplete !== undefined) throw unavailable(incomplete)
      const actor = await watcherFor(world, monitor)
      const { now, earlier } = seriesFor(definition, toMs)
      const ask = async (series: Series): Promise<Asked> => ({ series, actor, datasets: await sourcesOf(world, actor, series) })
      return {
        claimed,
        monitor,
        actor,
        definition,
        toMs,
        now: await Promise.all(now.map(ask)),
        earlier: await Promise.all(earlier.map(ask)),
      }
    } catch (thrown) {
      return { claimed, look: this.#blindLook(claimed, monitor, toMs, nowMs, thrown) }
    }
  }

  /** #monitorOf gives nothing for a monitor that cannot be loaded: only its own organization waits, until the lease runs out. */
  async #monitorOf({ org_id, monitor_id }: StateRow): Promise<MonitorRow | undefined> {
    const monitors = await allMonitors(this.#world, org_id).catch((err: unknown) => {
      this.#world.log.warn({ err, org_id, monitor_id }, 'a monitor could not be loaded')
      return []
    })
    return monitors.find(({ id }) => id === monitor_id)
  }

  /** #blindLook changes nothing and says why. */
  #blindLook(claimed: StateRow, monitor: MonitorRow, toMs: number, nowMs: number, thrown: unknown): Look {
    const definition = blindDefinition(monitor)
    const quiet = { muted: isMuted(monitor, nowMs) }
    const seen = { reason: this.#reasonOf(thrown, monitor) }
    return { monitor, definition, before: claimed, seen, quiet, fromMs: toMs, toMs, nowMs, missed: missedOf(claimed, nowMs) }
  }

  #reasonOf(thrown: unknown, { id, org_id }: MonitorRow): string {
    if (thrown instanceof Failure) return thrown.message
    this.#world.log.warn({ err: thrown, monitor_id: id, org_id }, 'a monitor could not look')
    return 'the event store could not be asked'
  }

  #failed({ claimed, monitor, toMs }: Prepared, nowMs: number, thrown: unknown): { look: Look; claimed: StateRow } {
    return { claimed, look: this.#blindLook(claimed, monitor, toMs, nowMs, thrown) }
  }

  /** #verdictOf keeps what cannot be decided, such as one with a damaged state, from stopping the other monitors of the batch. */
  #verdictOf(look: Look): Verdict {
    try {
      return isSoundState(look.before.state) ? decide(look, this.#world.ids.uuid) : undecided(look)
    } catch (err) {
      const { id, org_id } = look.monitor
      this.#world.log.error({ err, monitor_id: id, org_id }, 'the result of a monitor could not be evaluated')
      return undecided(look)
    }
  }

  /** #readAll asks everything that the monitors need to know, each scan once; a scan that fails is the reason for all that share it. */
  async #readAll(prepared: readonly Prepared[], signal: AbortSignal): Promise<ReadonlyMap<Series, Reading | Failed>> {
    const found = new Map<Series, Reading | Failed>()
    const asked: Asked[] = []
    for (const { now, earlier, definition, monitor } of prepared) {
      asked.push(...now)
      const isRemembered = definition.kind.kind === 'anomaly'
      for (const one of earlier) {
        if (!isRemembered) asked.push(one)
        else found.set(one.series, await this.#earlierReading(monitor, one, signal).catch((thrown: unknown) => ({ thrown })))
      }
    }
    const waiting = scansOf(asked)
    const work = async (): Promise<void> => {
      for (let scan = waiting.pop(); scan; scan = waiting.pop()) {
        for (const [series, reading] of await readScan(this.#world, scan, signal)) found.set(series, reading)
      }
    }
    await Promise.all(Array.from({ length: SCANS_AT_ONCE }, work))
    return found
  }

  /** #earlierReading reads the windows that a value is compared with once in the time of a window. */
  async #earlierReading(monitor: MonitorRow, asked: Asked, signal: AbortSignal): Promise<Reading> {
    const { series, datasets, actor } = asked
    const place = [monitor.id, questionKey(asked), windowsKey(series), JSON.stringify(series.query.call.call)].join(' ')
    const known = this.#earlier.get(place)
    if (known) return known
    if (this.#earlier.size >= REMEMBERED_MAX) this.#earlier.clear()
    const reading = readSeries(this.#world, actor, [series], datasets, signal).then(([only]) => only ?? [])
    this.#earlier.set(place, reading)
    reading.catch(() => this.#earlier.delete(place))
    return reading
  }

  async #lookOf(prepared: Prepared, readings: ReadonlyMap<Series, Reading | Failed>, nowMs: number): Promise<Taken> {
    const { claimed, monitor, definition, toMs, now, earlier } = prepared
    const all = [...now, ...earlier].map(({ series }) => readings.get(series) ?? [])
    const failed = all.find((reading) => 'thrown' in reading)
    if (failed && 'thrown' in failed) return { claimed, look: this.#blindLook(claimed, monitor, toMs, nowMs, failed.thrown) }
    const read = all as readonly Reading[]
    const sight: Sight = sightOf(definition, read.slice(0, now.length), read.slice(now.length))
    if (sight.judged.size > GROUPS_MAX) {
      const crowded = badRequest(`there are more than ${GROUPS_MAX} groups in the window; group by something rarer`)
      return { claimed, look: this.#blindLook(claimed, monitor, toMs, nowMs, crowded) }
    }
    const logIds = new Set(now.flatMap(({ datasets, series }) => [...datasets.map(({ id }) => id), ...(series.query.query.from ?? [])]))
    const quiet: Quiet = {
      muted: isMuted(monitor, nowMs),
      downtime: downtimeOf(await allDowntimes(this.#world, monitor.org_id), monitor, logIds, nowMs),
    }
    const window = { fromMs: toMs - definition.windowMs, toMs, nowMs, missed: missedOf(claimed, nowMs) }
    const known = new Set(claimed.reads)
    const moreReads = new Set([...now, ...earlier].flatMap(({ datasets }) => datasets.map(({ id }) => id)).filter((id) => !known.has(id)))
    return { claimed, moreReads: [...moreReads], look: { monitor, definition, before: claimed, seen: { sight }, quiet, ...window } }
  }

  /**
   * #write writes quiet looks together, and each that changed something in a transaction with what it changed. What cannot be written costs only
   * its own monitor: the lease runs out, and the look is taken again.
   */
  async #write(looks: readonly Taken[]): Promise<void> {
    const { meta, log } = this.#world
    const rows = looks.map((taken) => {
      const { look } = taken
      const verdict = this.#verdictOf(look)
      return { look, verdict, row: rowOf(taken, verdict) }
    })
    const lost = (row: LookRow) => (err: unknown) => log.warn({ err, monitor_id: row.monitor_id }, 'a look could not be written down')
    const quiet = rows.filter(({ verdict }) => !isEventful(verdict)).map(({ row }) => row)
    if (quiet.length > 0) {
      await writeLooks(meta, quiet).catch(async () => {
        for (const row of quiet) await writeLooks(meta, [row]).catch(lost(row))
      })
    }
    for (const { look, verdict, row } of rows) {
      if (isEventful(verdict)) await this.#writeEventful(look, verdict, row).catch(lost(row))
    }
  }

  /** #writeEventful writes nothing at all when the lease is another's by now: whoever has it decides. */
  async #writeEventful({ monitor, nowMs }: Look, { outcome, occasions, message }: Verdict, row: LookRow): Promise<void> {
    const { meta, ids } = this.#world
    await meta.write(monitor.org_id, async (tx) => {
      const written = await writeLooks(tx, [row])
      if (written.length === 0) return
      const place = { org_id: monitor.org_id, monitor_id: monitor.id, time: nowMs }
      const changed = outcome.decisions.filter(({ change, gone }) => change !== undefined || gone)
      if (changed.length > 0)
        await insertGroupHistory(
          tx,
          place,
          changed.map(({ group, after }) => ({ group_id: group, status: after })),
        )
      const eventId = outcome.whole ? ids.uuid() : null
      if (outcome.whole && eventId !== null) {
        const { before, after } = outcome.whole
        await insertEvent(tx, { ...place, id: eventId, monitor_status: after, previous_status: before, message: message ?? null })
      }
      const targets = occasions.length === 0 ? [] : await targetsOf(tx, monitor.org_id, monitor.actions)
      for (const occasion of occasions) {
        const notified = { orgId: monitor.org_id, monitorId: monitor.id, eventId: eventId ?? undefined, occasion, targets, isTest: false }
        await writeNotifications(this.#world, tx, notified)
      }
    })
  }
}

const isEventful = ({ outcome, occasions }: Verdict): boolean =>
  occasions.length > 0 || outcome.whole !== undefined || outcome.decisions.some(({ change, gone }) => change !== undefined || gone)

function rowOf({ look, claimed, moreReads = [] }: Taken, verdict: Verdict): LookRow {
  const { monitor, fromMs, toMs, nowMs, missed, seen } = look
  const {
    outcome: { state },
    alerts,
    record,
    isChange,
    isUndecided,
  } = verdict
  const isBlind = isUndecided || 'reason' in seen
  return {
    org_id: monitor.org_id,
    monitor_id: monitor.id,
    fence: claimed.fence,
    status: isUndecided ? claimed.status : state.status,
    state,
    alerts,
    last_trigger_ts: isUndecided ? claimed.last_trigger_ts : (state.lastTriggerMs ?? null),
    is_new: claimed.is_new && isBlind,
    due_at: nowMs + (isBlind ? AGAIN_MS : INTERVAL_MS),
    time: nowMs,
    from_ts: fromMs,
    to_ts: toMs,
    missed,
    is_change: isChange,
    record,
    more_reads: [...moreReads],
  }
}

/** missedOf counts whole intervals that passed since the look was due. */
const missedOf = ({ due_at }: StateRow, nowMs: number): number => Math.max(0, Math.floor((nowMs - due_at) / INTERVAL_MS))

const isMuted = ({ muted_until }: MonitorRow, nowMs: number): boolean => muted_until !== null && (muted_until < 0 || muted_until > nowMs)

/** downtimeOf is what the downtimes that cover a monitor now make of its notices; of several the strictest counts. */
function downtimeOf(downtimes: readonly Downtime[], { id }: MonitorRow, logIds: ReadonlySet<string>, nowMs: number): Quiet['downtime'] {
  const on = downtimes.filter(
    (downtime) => downtime.from.some((covered) => covered === id || logIds.has(covered)) && isDowntime(downtime, nowMs, ZONE),
  )
  if (on.length === 0) return undefined
  return {
    strategy: on.some(({ alert_strategy }) => alert_strategy === 'DROP') ? 'DROP' : 'DELAY',
    suppressRecovery: on.some(({ suppress_recovery_alert }) => suppress_recovery_alert),
  }
}

/** blindDefinition stands in where the real one cannot be read: nothing is looked at with it. */
const blindDefinition = (monitor: MonitorRow): Definition => ({
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
