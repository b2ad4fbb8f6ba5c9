import { Readable } from 'node:stream'
import type { BodyOf, contract, Event } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound, unavailable } from '../../../kernel/errors.ts'
import type { FoundEvent } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { seenEventsFor } from '../../access/policies/policies.ts'
import { type DatasetSelection, selectedDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'
import { recordSearch } from '../../data/event-queries/event-queries.ts'
import {
  type Delivery,
  decodeDelivered,
  type EventId,
  encodeDelivered,
  readEventId,
  undelivered,
  withDelivery,
  withoutReturned,
} from './delivered.ts'
import { EventTexts, type TailContext, toApiEvent } from './event-texts.ts'
import {
  datasetKeyOf,
  decodePosition,
  encodePosition,
  firstPosition,
  mustBeStored,
  readBackMs,
  startPosition,
  type TailPosition,
} from './position.ts'
import { insertLiveTail, type LiveTailRow, moveLiveTail, noteDelivered, removeLiveTails, selectLiveTail, touchLiveTail } from './rows.ts'
import { type EventVisibility, selectedEvents, selectionOf, type TailSelection, visibleEvents } from './selection.ts'
import { firstShare, isOneOf, reducedShare, shareNow } from './share.ts'
import { openStreamGuard, type StreamGuard } from './stream-guard.ts'
import { readerFor } from './tail-reader.ts'
import { Tails } from './tails.ts'
import { type Sampling, type TailOffsets, type TakenEvents, takeNew } from './take-new.ts'

type StartRequest = BodyOf<typeof contract.liveTail.start>

/** A job without a request for this long ends. */
const IDLE_MS = 60_000
const POLL_EVENTS = 100
const STREAM_EVENTS = 1_000
const STREAM_SECONDS = 3_600
const STREAM_POLL_MS = 1_000
/** After this much silence a comment is sent, so that proxies do not close the stream. */
const KEEP_ALIVE_MS = 15_000
const ACCESS_LOST = ': over, since the caller may not watch any more\n\n'
/** The client continues with its last event, at another process or at this one after its start. */
const STOPPING = ': over, since the service stops\n\n'
/** The turn of a job whose position this process has not stored. */
const NOT_STORED = -1

/** The state of a job in this process: its parsed selection, its offsets, its last use, and the position that was stored last. */
type TailState = { selection: TailSelection; offsets: TailOffsets; usedAtMs: number; turn: number; position: TailPosition }

/** The result of one read of a job, with the position before it and the context for serializing its events. */
type TailRead = TakenEvents & { context: TailContext; before: TailPosition; selection: TailSelection }

/** New events for a client that serializes them itself. Each stands for `oneOf` events; `missed` events were dropped. */
export type FollowedEvents = Pick<TakenEvents, 'events' | 'oneOf' | 'missed'> & Pick<TailContext, 'datasetsById'>

/** The client of a stream. It may disconnect or lose its permissions while the stream is open. */
type StreamClient = { signal: AbortSignal; currentActor: () => Promise<Actor> }

type StreamOptions = { seconds?: number | undefined; lastEventId?: string | undefined }

type PollOptions = Pick<StreamClient, 'currentActor'> & { limit?: number; newestFirst?: boolean }

/** The number of reads of one poll. A read is repeated when another request has advanced the job in the meantime. */
const ATTEMPTS_MAX = 8

/**
 * Shows events to callers as they arrive. Jobs and their positions are stored in PostgreSQL, so that every process can continue every job. Each process
 * reads for its own callers.
 */
export class LiveTails {
  readonly #world: World
  readonly #tails: Tails
  readonly #states = new Map<string, TailState>()
  readonly #readFamilies = new Set<string>()
  readonly #texts = new EventTexts()
  readonly #stopping = new AbortController()
  #streams = 0

  constructor(world: World) {
    this.#world = world
    this.#tails = new Tails(world.clock, () => this.#activeOffsets())
  }

  async start(actor: Actor, request: StartRequest): Promise<{ job_id: string }> {
    const startedMs = this.#world.clock.monotonicMs()
    const job = { source: { from: request.from, from_expr: request.from_expr }, condition: request.where ?? '' }
    const selection = selectionOf(job)
    const datasets = await selectedDatasets(this.#world, actor, selection.selectDatasets)
    const job_id = await this.#begin(actor, job, selection)
    recordSearch(this.#world, actor, { datasets, bytes: 0, startedMs })
    return { job_id }
  }

  /** Stores a new job. Its position is after all present events. */
  async #begin(actor: Actor, job: Pick<LiveTailRow, 'source' | 'condition'>, selection: TailSelection): Promise<string> {
    const { ids, clock, meta } = this.#world
    const nowMs = clock.nowMs()
    const row: LiveTailRow = {
      id: ids.uuid(),
      org_id: actor.orgId,
      identity: actor.identity,
      ...job,
      polled_at: nowMs,
      began_at: nowMs,
      turn: 0,
      position: null,
      delivered: null,
    }
    const taken = await this.#take(actor, row, 0, undefined, selection)
    await insertLiveTail(meta, { ...row, position: encodePosition(taken.position) })
    this.#states.set(row.id, { selection, offsets: taken.offsets, usedAtMs: nowMs, turn: 0, position: taken.position })
    return row.id
  }

  /** Returns the new events. A read may take some seconds, so the permissions of the caller are checked again before the reply. */
  async poll(
    actor: Actor,
    id: string,
    { currentActor, limit = POLL_EVENTS, newestFirst = true }: PollOptions,
  ): Promise<{ logs: { events: Event[] }[] }> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const row = await this.#resumed(await this.#find(actor, id), undefined)
      const taken = await this.#take(actor, row, limit)
      if (!(await this.#savePosition(row, taken, true))) continue
      const isVisible = await this.#visibilityOf(await currentActor())
      const events = taken.events.filter(isVisible).map((event) => toApiEvent(event, taken.context))
      return { logs: [{ events: newestFirst ? events.reverse() : events }] }
    }
    throw unavailable('too many concurrent polls of this live tail')
  }

  /** Streams events until the time is over, the client disconnects, the caller loses access, or the job is deleted. */
  async stream(
    actor: Actor,
    id: string,
    { seconds = STREAM_SECONDS, lastEventId, signal, currentActor }: StreamClient & StreamOptions,
  ): Promise<Readable> {
    const { clock, log } = this.#world
    const row = await this.#resumed(await this.#find(actor, id), readEventId(lastEventId))
    const guard = openStreamGuard({ clock, log }, { currentActor, untilMs: clock.monotonicMs() + seconds * 1_000 })
    const ending = AbortSignal.any([signal, guard.over, this.#stopping.signal])
    return guard.guarded(Readable.from(this.#countStream(row.id, this.#streamText(row, guard, ending)), { objectMode: false }))
  }

  /** Ends all streams with a last comment. Their clients continue with the last event that they have. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Gives back the events that the client of a job does not have. */
  async #resumed(row: LiveTailRow, last: EventId | undefined): Promise<LiveTailRow> {
    const { meta, clock } = this.#world
    const deliveries = decodeDelivered(row.delivered)
    const missing = undelivered(deliveries, last)
    const position = row.position && decodePosition(row.position)
    if (missing.length === 0 || !position) return row
    const next = { position: encodePosition(withoutReturned(position, missing)), delivered: null }
    if ((await moveLiveTail(meta, row, next, clock.nowMs())) === 0) throw unavailable('too many concurrent readers of this live tail')
    this.#states.delete(row.id)
    return { ...row, ...next, turn: row.turn + 1 }
  }

  /** Yields new events of datasets for another protocol until the client disconnects. It throws once the caller has lost access. */
  async follow(actor: Actor, selectDatasets: DatasetSelection, client: StreamClient): Promise<AsyncGenerator<FollowedEvents>> {
    const selection = { selectDatasets, matches: undefined }
    // Another process would continue the job with all datasets, but only this one does.
    return this.#followJob(await this.#begin(actor, { source: { from: undefined, from_expr: '*' }, condition: '' }, selection), client)
  }

  async *#followJob(job_id: string, { signal, currentActor }: StreamClient): AsyncGenerator<FollowedEvents> {
    this.#streams += 1
    try {
      while (!signal.aborted && !this.#stopping.signal.aborted) {
        const allowed = await currentActor()
        const row = await this.#find(allowed, job_id)
        const taken = await this.#take(allowed, row, STREAM_EVENTS)
        if (!(await this.#savePosition(row, taken, true))) continue
        const isVisible = await this.#visibilityOf(await currentActor())
        const events = taken.events.filter(isVisible)
        yield { events, oneOf: taken.oneOf, missed: taken.missed, datasetsById: taken.context.datasetsById }
        if (taken.events.length < STREAM_EVENTS) await this.#world.clock.sleep(STREAM_POLL_MS, signal).catch(() => undefined)
      }
    } finally {
      this.#streams -= 1
      this.#states.delete(job_id)
      this.#tails.release()
    }
  }

  /** Counts a stream while it is open. Afterwards no events are held for it: a request that continues its job reads them again. */
  async *#countStream(id: string, text: AsyncGenerator<string>): AsyncGenerator<string> {
    this.#streams += 1
    try {
      yield* text
    } finally {
      this.#streams -= 1
      this.#states.delete(id)
      this.#tails.release()
    }
  }

  /** Checks the permissions of the caller before each read, and again before events are sent. */
  async *#streamText(job: LiveTailRow, guard: StreamGuard, ending: AbortSignal): AsyncGenerator<string> {
    const { clock, meta } = this.#world
    let row: LiveTailRow | undefined = job
    let lastSentMs = clock.monotonicMs()
    yield ': watching\n\n'
    let sentOneOf = 1
    let share = firstShare(this.#streams, clock.nowMs())
    const sample: Sampling = (seqs) => {
      share = reducedShare(share, seqs)
      const { oneOf } = share
      return (seq) => isOneOf(seq, oneOf)
    }
    while (row && !ending.aborted) {
      const actor = await guard.actor()
      share = shareNow(share, this.#streams, clock.nowMs())
      const taken: TailRead | undefined = actor && (await guard.unlessOver(this.#take(actor, row, STREAM_EVENTS, sample)))
      const isSilent = clock.monotonicMs() - lastSentMs > KEEP_ALIVE_MS
      const advancedRow: LiveTailRow | undefined = taken && (await this.#savePosition(row, taken, isSilent, true))
      if (taken && !advancedRow) {
        row = await selectLiveTail(meta, row.org_id, row.id)
        continue
      }
      const allowed = taken && (await guard.actor())
      const isVisible = allowed && (await this.#visibilityOf(allowed))
      if (!isVisible || !advancedRow) break
      row = advancedRow
      const { missed } = taken
      const oneOf = taken.oneOf * share.oneOf
      share = { ...share, left: Math.max(0, share.left - taken.events.length) }
      if (oneOf !== sentOneOf) yield `: one of ${oneOf}\n\n`
      if (missed > 0) yield `: missed ${missed}\n\n`
      sentOneOf = oneOf
      const events = taken.events.filter(isVisible)
      if (events.length > 0) yield* this.#delivered(row, events, taken.context, guard)
      else if (isSilent) yield ': alive\n\n'
      else {
        await clock.sleep(STREAM_POLL_MS, ending).catch(() => undefined)
        continue
      }
      lastSentMs = clock.monotonicMs()
    }
    if (guard.isLost) yield ACCESS_LOST
    else if (this.#stopping.signal.aborted) yield STOPPING
  }

  /** Yields the texts of events, and notes which of them have left when the client leaves in between. */
  async *#delivered(row: LiveTailRow, events: readonly FoundEvent[], context: TailContext, guard: StreamGuard): AsyncGenerator<string> {
    let lastSeq: bigint | undefined
    let isWhole = false
    try {
      for (const { text, seq } of this.#texts.chunks(row.turn, events, context, guard)) {
        yield text
        lastSeq = seq
      }
      isWhole = true
    } finally {
      if (!isWhole || guard.isLost) await this.#noteSent(row, lastSeq)
    }
  }

  async #noteSent(row: LiveTailRow, lastSeq: bigint | undefined): Promise<void> {
    const deliveries = decodeDelivered(row.delivered)
    const last = deliveries.at(-1)
    if (!last) return
    const sent = lastSeq === undefined ? 0 : last.seqs.filter((seq) => seq <= lastSeq).length
    await noteDelivered(this.#world.meta, row, encodeDelivered([...deliveries.slice(0, -1), { ...last, sent }])).catch((err) =>
      this.#world.log.debug({ err }, 'the end of a live tail could not be noted'),
    )
  }

  /** Returns which events an actor may see now. */
  async #visibilityOf(actor: Actor): Promise<EventVisibility> {
    return visibleEvents(await visibleDatasets(this.#world, actor), await seenEventsFor(this.#world, actor))
  }

  /**
   * Returns the offsets of jobs that were used in this process within the last minute. The states of other jobs are deleted, because no events are held
   * for them any more.
   */
  #activeOffsets(): TailOffsets[] {
    const idleSinceMs = this.#world.clock.nowMs() - IDLE_MS
    for (const [id, { usedAtMs }] of this.#states) if (usedAtMs < idleSinceMs) this.#states.delete(id)
    return [...this.#states.values()].map(({ offsets }) => offsets)
  }

  /** Removes jobs, their states and tails that are no longer used. */
  async removeIdle(): Promise<void> {
    // Asks for the active offsets, which deletes the idle states.
    this.#tails.removeIdle()
    await removeLiveTails(this.#world.meta, this.#world.clock.nowMs() - IDLE_MS)
  }

  async #find(actor: Actor, id: string): Promise<LiveTailRow> {
    const row = await selectLiveTail(this.#world.meta, actor.orgId, id)
    const isOwn = row?.identity.type === actor.identity.type && row.identity.id === actor.identity.id
    if (!row || !isOwn || this.#world.clock.nowMs() - row.polled_at > IDLE_MS) throw notFound('live tail', id)
    return row
  }

  /**
   * Stores the new position of a job and returns the updated job, or undefined when another request has advanced it in the meantime. A job whose position
   * has not changed is only kept alive, and only if `isPolled` is set.
   */
  async #savePosition(
    row: LiveTailRow,
    { events, before, position, offsets, selection }: TailRead,
    isPolled: boolean,
    isStream = false,
  ): Promise<LiveTailRow | undefined> {
    const { clock, meta } = this.#world
    const nowMs = clock.nowMs()
    const hasAdvanced = events.length > 0 || mustBeStored(before, position)
    const encoded = hasAdvanced ? encodePosition(position) : row.position
    const turn = hasAdvanced ? row.turn + 1 : row.turn
    const delivered = isStream && hasAdvanced ? encodeDelivered(this.#deliveriesWith(row, turn, events)) : isStream ? row.delivered : null
    if (encoded && hasAdvanced) {
      if ((await moveLiveTail(meta, row, { position: encoded, delivered }, nowMs)) === 0) return undefined
    } else if (isPolled) await touchLiveTail(meta, row.id, nowMs)
    this.#states.set(row.id, { selection, offsets, usedAtMs: nowMs, turn, position: hasAdvanced ? position : before })
    return { ...row, turn, position: encoded, delivered }
  }

  #deliveriesWith(row: LiveTailRow, turn: number, events: readonly FoundEvent[]): Delivery[] {
    const deliveries = decodeDelivered(row.delivered)
    return events.length === 0 ? deliveries : withDelivery(deliveries, { turn, seqs: events.map(({ seq }) => seq), sent: events.length })
  }

  /** Takes the new events of a job, the oldest first, from its datasets that the caller may see now. It does not store the position. */
  async #take(actor: Actor, row: LiveTailRow, limit: number, sample?: Sampling, first?: TailSelection): Promise<TailRead> {
    const nowMs = this.#world.clock.nowMs()
    const known = this.#states.get(row.id)
    // Marks the job as used, so that its events stay held during the read.
    if (known) this.#states.set(row.id, { ...known, usedAtMs: nowMs })
    const { selection, offsets } = known ?? { selection: first ?? selectionOf(row), offsets: new Map() }
    if (row.condition.includes('@pattern')) this.#readFamilies.add(actor.orgId)
    const stored = known?.turn === row.turn ? known.position : row.position && decodePosition(row.position)
    const before = stored ?? (row.position ? firstPosition(nowMs) : startPosition(nowMs))
    const datasets = selection.selectDatasets(await visibleDatasets(this.#world, actor))
    // All events of a dataset that was created after the job are new.
    const beganMs = row.began_at ?? nowMs
    const joined = new Set(
      datasets.flatMap(({ id, created_at }) => (created_at <= beganMs && !before.known.has(datasetKeyOf(id)) ? [id] : [])),
    )
    const datasetsById = new Map(datasets.map((dataset) => [dataset.id, dataset]))
    const matches = selectedEvents(selection.matches, datasetsById, await seenEventsFor(this.#world, actor))
    const request = { watcherId: actor.identity.id, backToMs: readBackMs(before), joined, offsets }
    return this.#tails.read(datasets, readerFor(this.#world, actor, this.#readFamilies.has(actor.orgId)), request, (tails) => {
      const taken = takeNew(tails, { position: before, offsets, matches, joined, sample }, limit, nowMs)
      // From now on the events that the job has not taken are held for it.
      if (!known || taken.previousOffsets.keys().some((id) => !offsets.has(id)))
        this.#states.set(row.id, {
          turn: NOT_STORED,
          position: before,
          usedAtMs: nowMs,
          ...known,
          selection,
          offsets: new Map([...offsets, ...taken.previousOffsets]),
        })
      return { ...taken, selection, before, context: { baseUrl: actor.facts.baseUrl, datasetsById } }
    })
  }
}
