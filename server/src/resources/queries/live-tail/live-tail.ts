import type { BodyOf, contract, Event } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { Failure, notFound, unavailable } from '../../../kernel/errors.ts'
import { type EventMatcher, matcherOf } from '../../../query/matcher.ts'
import { parseFilter } from '../../../query/query.ts'
import type { FoundEvent, QueryCost, TimeBounds } from '../../../reading/event-query.ts'
import { type EventNumber, readNumbers } from '../../../reading/numbers.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import {
  type DatasetRow,
  type DatasetSelection,
  datasetSelectionOf,
  selectedDatasets,
  visibleDatasets,
} from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, rawText, recordSearch, SELECT_ALL, shownEvents } from '../../data/event-queries/event-queries.ts'
import {
  decodePosition,
  encodePosition,
  firstPosition,
  isWorthKeeping,
  knownBy,
  readBackMs,
  startPosition,
  type TailPosition,
} from './position.ts'
import { insertLiveTail, type LiveTailRow, moveLiveTail, removeLiveTails, selectLiveTail, touchLiveTail } from './rows.ts'
import { firstShare, isOneOf, shareNow, thinned } from './share.ts'
import { type ReadPositions, type TailReader, Tails, type TakenEvents, takeNew } from './tails.ts'

type LiveTailRequest = BodyOf<typeof contract.liveTail.start>

/** A job ends when it has not been polled for this long. */
const UNPOLLED_MS = 60_000
const READ_BOUND_MS = 10_000
const READ_EVENTS_MAX = 10_000
const POLL_EVENTS = 100
const STREAM_EVENTS = 1_000
const STREAM_SECONDS = 3_600
const STREAM_EVERY_MS = 1_000
/** After this much silence a comment is sent, so that proxies do not close the stream. */
const ALIVE_MS = 15_000

/** The state of a job in this process: its parsed request, the positions read here, and when it was last polled here. */
type TailState = { wish: TailSelection; watch: ReadPositions; usedAtMs: number; turn: number; position: TailPosition }

/** Events in the form for callers, and the position before them. */
type TailRead = Omit<TakenEvents, 'events'> & { events: Event[]; before: TailPosition; wish: TailSelection }

/** The client of a stream, who may leave or lose permissions while it lasts. */
type StreamClient = { signal: AbortSignal; standing: () => Promise<Actor> }

/** A caller who is unknown or may no longer tail counts as gone; any other failure is ours. */
function goneOrThrow(thrown: unknown): undefined {
  if (!(thrown instanceof Failure) || (thrown.status !== 401 && thrown.status !== 403)) throw thrown
}

/** The datasets and the filter of a job. */
type TailSelection = { choose: DatasetSelection; matches: EventMatcher }

type Sampling = (seqs: readonly bigint[]) => (seq: bigint) => boolean

/** How often a read is repeated because another process took events of the same job meanwhile. */
const MOVES_MAX = 8

/** Streams events as they arrive. Jobs and their positions are stored, so that any process can continue any job; each process reads for its own clients. */
export class LiveTails {
  readonly #world: World
  readonly #tails: Tails
  readonly #watches = new Map<string, TailState>()
  readonly #made = new WeakMap<FoundEvent, { as: string; shown: Event }>()
  readonly #texts = new WeakMap<Event, string>()
  #streams = 0

  constructor(world: World) {
    this.#world = world
    this.#tails = new Tails(world.clock)
  }

  async start(actor: Actor, request: LiveTailRequest): Promise<{ job_id: string }> {
    const { ids, clock, meta } = this.#world
    const nowMs = clock.nowMs()
    const condition = request.where ?? ''
    const source = { from: request.from, from_expr: request.from_expr }
    const wish = selectionOf({ source, condition })
    const datasets = await selectedDatasets(this.#world, actor, wish.choose)
    const row: LiveTailRow = {
      id: ids.uuid(),
      org_id: actor.orgId,
      identity: actor.identity,
      source,
      condition,
      polled_at: nowMs,
      began_at: nowMs,
      turn: 0,
      position: null,
    }
    const startedMs = clock.monotonicMs()
    const taken = await this.#take(actor, row, 0)
    await insertLiveTail(meta, { ...row, position: encodePosition(taken.position) })
    this.#watches.set(row.id, { wish, watch: taken.watch, usedAtMs: nowMs, turn: 0, position: taken.position })
    recordSearch(this.#world, actor, { datasets, bytes: 0, startedMs })
    return { job_id: row.id }
  }

  async poll(actor: Actor, id: string, { limit = POLL_EVENTS, newestFirst = true }): Promise<{ logs: { events: Event[] }[] }> {
    for (let moves = 0; moves < MOVES_MAX; moves += 1) {
      const row = await this.#find(actor, id)
      const taken = await this.#take(actor, row, limit)
      if (!(await this.#move(row, taken, true))) continue
      return { logs: [{ events: newestFirst ? taken.events.reverse() : taken.events }] }
    }
    throw unavailable('this live tail is polled too often at once')
  }

  /** Yields events as text until the time is over, the caller has left, or the job is gone. */
  async stream(actor: Actor, id: string, { seconds = STREAM_SECONDS, ...client }: StreamClient & { seconds?: number | undefined }) {
    const row = await this.#find(actor, id)
    return this.#counted(this.#lines(row, { seconds, ...client }))
  }

  /** Counts a stream while it lasts. */
  async *#counted(lines: AsyncGenerator<string>): AsyncGenerator<string> {
    this.#streams += 1
    try {
      yield* lines
    } finally {
      this.#streams -= 1
    }
  }

  /** Checks visibility before each read, and again before sending. */
  async *#lines(started: LiveTailRow, { seconds, signal, standing }: StreamClient & { seconds: number }): AsyncGenerator<string> {
    const { clock, meta } = this.#world
    let row: LiveTailRow | undefined = started
    const untilMs = clock.monotonicMs() + seconds * 1_000
    let lastSentMs = clock.monotonicMs()
    yield ': watching\n\n'
    let reportedOneOf = 1
    let share = firstShare(this.#streams, clock.nowMs())
    const thin: Sampling = (seqs) => {
      share = thinned(share, seqs)
      const { oneOf } = share
      return (seq) => isOneOf(seq, oneOf)
    }
    while (row && !signal.aborted && clock.monotonicMs() < untilMs) {
      const actor = await standing().catch(goneOrThrow)
      share = shareNow(share, this.#streams, clock.nowMs())
      const taken = actor && (await this.#take(actor, row, STREAM_EVENTS, thin))
      const isSilent = clock.monotonicMs() - lastSentMs > ALIVE_MS
      const moved: LiveTailRow | undefined = taken && (await this.#move(row, taken, isSilent))
      if (taken && !moved) {
        row = await selectLiveTail(meta, row.org_id, row.id)
        continue
      }
      const seen = taken && (await this.#seenNow(standing))
      if (!seen || !moved) {
        yield ': over, since the caller may not watch any more\n\n'
        return
      }
      row = moved
      const { missed } = taken
      const oneOf = taken.oneOf * share.oneOf
      share = { ...share, left: Math.max(0, share.left - taken.events.length) }
      const events = taken.events.filter(({ metadata }) => seen.has(metadata.service_id))
      if (oneOf !== reportedOneOf) yield `: one of ${oneOf}\n\n`
      if (missed > 0) yield `: missed ${missed}\n\n`
      reportedOneOf = oneOf
      if (events.length > 0) yield events.map((event) => this.#textOf(event)).join('')
      else if (isSilent) yield ': alive\n\n'
      else {
        await clock.sleep(STREAM_EVERY_MS, signal).catch(() => undefined)
        continue
      }
      lastSentMs = clock.monotonicMs()
    }
  }

  /** The ids of the datasets visible to the caller now; undefined if the caller may no longer tail. */
  async #seenNow(standing: StreamClient['standing']): Promise<ReadonlySet<string> | undefined> {
    const actor = await standing().catch(goneOrThrow)
    return actor && new Set((await visibleDatasets(this.#world, actor)).map(({ id }) => id))
  }

  /** Removes unused jobs. */
  async forget(): Promise<void> {
    this.#tails.forget()
    const goneMs = this.#world.clock.nowMs() - UNPOLLED_MS
    for (const [id, { usedAtMs }] of this.#watches) if (usedAtMs < goneMs) this.#watches.delete(id)
    await removeLiveTails(this.#world.meta, goneMs)
  }

  async #find(actor: Actor, id: string): Promise<LiveTailRow> {
    const row = await selectLiveTail(this.#world.meta, actor.orgId, id)
    const isOwn = row?.identity.type === actor.identity.type && row.identity.id === actor.identity.id
    if (!row || !isOwn || this.#world.clock.nowMs() - row.polled_at > UNPOLLED_MS) throw notFound('live tail', id)
    return row
  }

  /**
   * Stores the position of the job and returns the job; undefined if another process took events of it meanwhile. A job that has not moved is only
   * kept alive when polled.
   */
  async #move(row: LiveTailRow, { events, before, position, watch, wish }: TailRead, isPolled: boolean): Promise<LiveTailRow | undefined> {
    const { clock, meta } = this.#world
    const nowMs = clock.nowMs()
    const hasMoved = events.length > 0 || isWorthKeeping(before, position)
    const encoded = hasMoved ? encodePosition(position) : row.position
    const turn = hasMoved ? row.turn + 1 : row.turn
    if (encoded && hasMoved) {
      if ((await moveLiveTail(meta, row, encoded, nowMs)) === 0) return undefined
    } else if (isPolled) await touchLiveTail(meta, row.id, nowMs)
    this.#watches.set(row.id, { wish, watch, usedAtMs: nowMs, turn, position: hasMoved ? position : before })
    return { ...row, turn, position: encoded }
  }

  /** Reads as an actor. Streams are counted when they begin; shared reads are attributed to the client that triggers them. */
  #readerFor(actor: Actor): TailReader {
    const { orgId, identity } = actor
    const request = (datasets: Parameters<TailReader['events']>[0], bounds: TimeBounds) =>
      buildEventQuery(this.#world, actor, {
        datasets,
        filter: ALL_EVENTS,
        bounds,
        signal: AbortSignal.timeout(READ_BOUND_MS),
        reader: 'tail',
      })
    const note = (datasets: Parameters<TailReader['events']>[0], { bytes }: QueryCost) => {
      const logIds = datasets.map(({ id }) => id)
      this.#world.usage.note({ kind: 'search', orgId, identityId: identity.id, logIds, bytes, latencyMs: 0, isMore: true })
    }
    return {
      numbers: async (datasets, { after, oneOf, bounds }) => {
        const wish = { after, oneOf, limit: READ_EVENTS_MAX }
        const { found, hasMore, cost } = await readNumbers(this.#world.events, await request(datasets, bounds), wish)
        note(datasets, cost)
        return { found, hasMore }
      },
      events: async (datasets, numbers) => {
        const wish = {
          limit: numbers.length,
          newestFirst: true,
          keys: 'all',
          withRaw: true,
          numbers: numbers.map(({ seq }) => seq),
        } as const
        const { events, cost } = await readEvents(this.#world.events, await request(datasets, boundsOf(numbers)), wish)
        note(datasets, cost)
        return events
      },
    }
  }

  /** An event in the form for callers, built once for all streams. */
  #shown(event: FoundEvent, baseUrl: string, places: ReadonlyMap<string, DatasetRow>): Event {
    const { collection = '', dataset = '' } = places.get(event.logId) ?? {}
    const as = JSON.stringify([baseUrl, collection, dataset])
    const known = this.#made.get(event)
    if (known?.as === as) return known.shown
    const [shown] = shownEvents([event], { items: SELECT_ALL, baseUrl, places }).events
    if (!shown) throw new Error('an event is missing')
    this.#made.set(event, { as, shown })
    return shown
  }

  /** The text of an event, built once for all streams. */
  #textOf(event: Event): string {
    const text = this.#texts.get(event) ?? `data: ${JSON.stringify(event)}\n\n`
    this.#texts.set(event, text)
    return text
  }

  /** The new events of the job, oldest first, of the datasets that it requests and the caller may see now; stores nothing. */
  async #take(actor: Actor, row: LiveTailRow, limit: number, thin?: Sampling): Promise<TailRead> {
    const nowMs = this.#world.clock.nowMs()
    const known = this.#watches.get(row.id)
    const { wish, watch } = known ?? { wish: selectionOf(row), watch: new Map() }
    const written = known?.turn === row.turn ? known.position : row.position && decodePosition(row.position)
    const before = written ?? (row.position ? firstPosition(nowMs) : startPosition(nowMs))
    const datasets = wish.choose(await visibleDatasets(this.#world, actor))
    // All that is in a dataset younger than the watch has arrived since.
    const beganMs = row.began_at ?? nowMs
    const joined = new Set(datasets.flatMap(({ id, created_at }) => (created_at <= beganMs && !before.known.has(knownBy(id)) ? [id] : [])))
    const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
    const tails = await this.#tails.refresh(datasets, this.#readerFor(actor), { backToMs: readBackMs(before), joined, watch })
    const matches = (event: FoundEvent): boolean => {
      const { collection = '', dataset = '' } = places.get(event.logId) ?? {}
      return wish.matches({ ...event, raw: rawText(event.raw), collection, dataset })
    }
    const { events, ...said } = takeNew(tails, { position: before, watch, matches, joined, thin }, limit, nowMs)
    return { ...said, wish, before, events: events.map((event) => this.#shown(event, actor.facts.baseUrl, places)) }
  }
}

const NS_PER_MS = 1_000_000n

/** The time range of some sequence numbers. */
function boundsOf(numbers: readonly EventNumber[]): TimeBounds {
  let [first = 0n, last = 0n] = [numbers[0]?.timeNs, numbers[0]?.timeNs]
  for (const { timeNs } of numbers) {
    if (timeNs < first) first = timeNs
    if (timeNs > last) last = timeNs
  }
  return { fromMs: Number(first / NS_PER_MS), toMs: Number(last / NS_PER_MS) + 1 }
}

const selectionOf = ({ source, condition }: Pick<LiveTailRow, 'source' | 'condition'>): TailSelection => ({
  matches: matcherOf(parseFilter(condition).filter),
  choose: datasetSelectionOf(source),
})
