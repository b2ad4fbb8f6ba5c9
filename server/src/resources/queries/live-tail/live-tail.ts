import type { BodyOf, contract, Event } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { Failure, notFound, unavailable } from '../../../kernel/errors.ts'
import { type EventMatcher, matcherOf } from '../../../query/matcher.ts'
import { parseFilter } from '../../../query/query.ts'
import type { FoundEvent } from '../../../reading/event-query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetSelection, datasetSelectionOf, selectedDatasets, visibleDatasets } from '../../data/datasets/datasets.ts'
import { buildEventQuery, rawText, recordSearch, SELECT_ALL, shownEvents } from '../../data/event-queries/event-queries.ts'
import { decodePosition, encodePosition, firstPosition, isWorthKeeping, knownBy, readBackMs, type TailPosition } from './position.ts'
import { insertLiveTail, type LiveTailRow, moveLiveTail, removeLiveTails, selectLiveTail, touchLiveTail } from './rows.ts'
import { type ReadNew, type TailOffsets, Tails, type Taken, takeNew } from './tails.ts'

type Ask = BodyOf<typeof contract.liveTail.start>

/** A job ends when nobody has polled it for this long. */
const UNPOLLED_MS = 60_000
const READ_BOUND_MS = 10_000
const READ_EVENTS_MAX = 10_000
const POLL_EVENTS = 100
const STREAM_EVENTS = 1_000
const STREAM_SECONDS = 3_600
const STREAM_EVERY_MS = 1_000
/** After this long without events, a comment keeps proxies from closing the stream. */
const ALIVE_MS = 15_000

/** The state of a job in this process: its parsed selection, the offsets in the tails, and the time of the last use. */
type Watching = { wish: Selection; watch: TailOffsets; usedAtMs: number }

/** New events in API form, and the position before them. */
type Shown = Omit<Taken, 'events'> & { events: Event[]; before: TailPosition; wish: Selection }

/** The reader of a stream, who may disconnect or lose permissions. */
type Watcher = { signal: AbortSignal; standing: () => Promise<Actor> }

/** Treats 401 and 403 as the end of the stream; other errors are ours. */
function goneOrThrow(thrown: unknown): undefined {
  if (!(thrown instanceof Failure) || (thrown.status !== 401 && thrown.status !== 403)) throw thrown
}

/** The datasets and events that a job selects. */
type Selection = { choose: DatasetSelection; matches: EventMatcher }

/** Retries when another request of the same job has advanced the position. */
const MOVES_MAX = 8

/**
 * Streams events as they arrive. Jobs and positions are stored, so that any process can continue any job; each process reads for its own
 * clients.
 */
export class LiveTails {
  readonly #world: World
  readonly #tails: Tails
  readonly #watches = new Map<string, Watching>()

  constructor(world: World) {
    this.#world = world
    this.#tails = new Tails(world.clock)
  }

  async start(actor: Actor, ask: Ask): Promise<{ job_id: string }> {
    const { ids, clock, meta } = this.#world
    const nowMs = clock.nowMs()
    const condition = ask.where ?? ''
    const source = { from: ask.from, from_expr: ask.from_expr }
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
    this.#watches.set(row.id, { wish, watch: taken.watch, usedAtMs: nowMs })
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
    throw unavailable('this live tail is asked for too often at once')
  }

  /** Streams events as text until the time is over, the caller disconnects, or the job is gone. */
  async stream(actor: Actor, id: string, { seconds = STREAM_SECONDS, ...watcher }: Watcher & { seconds?: number | undefined }) {
    const row = await this.#find(actor, id)
    return this.#lines(row, { seconds, ...watcher })
  }

  /** Checks permissions before each read, and again before sending. */
  async *#lines(begun: LiveTailRow, { seconds, signal, standing }: Watcher & { seconds: number }): AsyncGenerator<string> {
    const { clock, meta } = this.#world
    let row: LiveTailRow | undefined = begun
    const untilMs = clock.monotonicMs() + seconds * 1_000
    let spokenMs = clock.monotonicMs()
    yield ': watching\n\n'
    let saidOneOf = 1
    while (row && !signal.aborted && clock.monotonicMs() < untilMs) {
      const actor = await standing().catch(goneOrThrow)
      const taken = actor && (await this.#take(actor, row, STREAM_EVENTS))
      const isSilent = clock.monotonicMs() - spokenMs > ALIVE_MS
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
      const { oneOf, missed } = taken
      const events = taken.events.filter(({ metadata }) => seen.has(metadata.service_id))
      if (oneOf !== saidOneOf) yield `: one of ${oneOf}\n\n`
      if (missed > 0) yield `: missed ${missed}\n\n`
      saidOneOf = oneOf
      if (events.length > 0) yield events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
      else if (isSilent) yield ': alive\n\n'
      else {
        await clock.sleep(STREAM_EVERY_MS, signal).catch(() => undefined)
        continue
      }
      spokenMs = clock.monotonicMs()
    }
  }

  /** The ids of the datasets that the caller may see now; undefined when they may no longer watch. */
  async #seenNow(standing: Watcher['standing']): Promise<ReadonlySet<string> | undefined> {
    const actor = await standing().catch(goneOrThrow)
    return actor && new Set((await visibleDatasets(this.#world, actor)).map(({ id }) => id))
  }

  /** Removes jobs that nobody polls any more. */
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
   * Stores the new position and returns the job; undefined when another request has advanced it meanwhile. An unchanged job is only kept
   * alive, if it was polled.
   */
  async #move(row: LiveTailRow, { events, before, position, watch, wish }: Shown, isPolled: boolean): Promise<LiveTailRow | undefined> {
    const { clock, meta } = this.#world
    const nowMs = clock.nowMs()
    const hasMoved = events.length > 0 || isWorthKeeping(before, position)
    const encoded = hasMoved ? encodePosition(position) : row.position
    if (encoded && hasMoved) {
      if ((await moveLiveTail(meta, row, encoded, nowMs)) === 0) return undefined
    } else if (isPolled) await touchLiveTail(meta, row.id, nowMs)
    this.#watches.set(row.id, { wish, watch, usedAtMs: nowMs })
    return hasMoved ? { ...row, turn: row.turn + 1, position: encoded } : row
  }

  /** Reads the new events of a job, oldest first, from the datasets that the caller may see now. Stores nothing. */
  async #take(actor: Actor, row: LiveTailRow, limit: number): Promise<Shown> {
    const nowMs = this.#world.clock.nowMs()
    const { wish, watch } = this.#watches.get(row.id) ?? { wish: selectionOf(row), watch: new Map() }
    const before = (row.position && decodePosition(row.position)) ?? firstPosition(nowMs)
    const datasets = wish.choose(await visibleDatasets(this.#world, actor))
    // Everything in a dataset younger than the tail has arrived since.
    const beganMs = row.began_at ?? nowMs
    const joined = new Set(datasets.flatMap(({ id, created_at }) => (created_at <= beganMs && !before.known.has(knownBy(id)) ? [id] : [])))
    const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
    const read: ReadNew = async (logIds, filter, bounds, oneOf) => {
      const wanted = new Set(logIds)
      const due = datasets.filter(({ id }) => wanted.has(id))
      const eventQuery = await buildEventQuery(this.#world, actor, {
        datasets: due,
        filter,
        bounds,
        signal: AbortSignal.timeout(READ_BOUND_MS),
        reader: 'tail',
      })
      const wish = { limit: READ_EVENTS_MAX, newestFirst: true, keys: 'all', withRaw: true, oneOf } as const
      const { events, hasMore, cost } = await readEvents(this.#world.events, eventQuery, wish)
      // Usage is counted when a tail starts; shared reads are charged to the caller that triggered them.
      const { orgId, identity } = actor
      this.#world.usage.note({ kind: 'search', orgId, identityId: identity.id, logIds, bytes: cost.bytes, latencyMs: 0, isMore: true })
      return { events, hasMore }
    }
    const tails = await this.#tails.refresh(datasets, read, readBackMs(before))
    const matches = (event: FoundEvent): boolean => {
      const { collection = '', dataset = '' } = places.get(event.logId) ?? {}
      return wish.matches({ ...event, raw: rawText(event.raw), collection, dataset })
    }
    const { events, ...said } = takeNew(tails, { position: before, watch, matches, joined }, limit, nowMs)
    return { ...said, wish, before, events: shownEvents(events, { items: SELECT_ALL, baseUrl: actor.facts.baseUrl, places }).events }
  }
}

const selectionOf = ({ source, condition }: Pick<LiveTailRow, 'source' | 'condition'>): Selection => ({
  matches: matcherOf(parseFilter(condition).filter),
  choose: datasetSelectionOf(source),
})
