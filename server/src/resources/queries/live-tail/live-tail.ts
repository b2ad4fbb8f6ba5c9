import { Readable } from 'node:stream'
import type { BodyOf, contract, Event } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound, unavailable } from '../../../kernel/errors.ts'
import type { MatchableEvent } from '../../../query/matchable-event.ts'
import { type EventMatcher, matcherOf } from '../../../query/matcher.ts'
import { parseFilter } from '../../../query/query.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/event-query.ts'
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
import {
  ALL_EVENTS,
  buildEventQuery,
  rawText,
  recordSearch,
  SELECT_ALL,
  serviceBudget,
  shownEvents,
} from '../../data/event-queries/event-queries.ts'
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
import { openStreamGuard, type StreamGuard } from './stream-guard.ts'
import { type Reader, Tails } from './tails.ts'
import { type Taken, takeNew, type Watch } from './take-new.ts'

type Ask = BodyOf<typeof contract.liveTail.start>

/** UNPOLLED_MS ends a job that nobody has asked for so long. */
const UNPOLLED_MS = 60_000
const READ_BOUND_MS = 10_000
const READ_EVENTS_MAX = 10_000
const POLL_EVENTS = 100
const STREAM_EVENTS = 1_000
const STREAM_SECONDS = 3_600
const STREAM_EVERY_MS = 1_000
/** ALIVE_MS of silence are broken by a comment, so that nobody on the way takes the stream for dead. */
const ALIVE_MS = 15_000
/** PIECE_CHARACTERS is about how much text of a stream is made at once. */
const PIECE_CHARACTERS = 65_536
const OVER = ': over, since the caller may not watch any more\n\n'
/** NO_POSITION is that of a job of which this process has written no position. */
const NO_POSITION = -1

/** A Watching is what this process knows of a job: what it asks for, read once, what was looked at here, and when it was asked for here last. */
type Watching = { wish: Wish; watch: Watch; usedAtMs: number; turn: number; position: TailPosition }

/** A Take is what was taken, how its events are shown, and the position before it. */
type Take = Taken & { view: View; before: TailPosition; wish: Wish }

/** A View is what the text of an event depends on besides the event. */
type View = { baseUrl: string; places: ReadonlyMap<string, DatasetRow> }

/** A Listener of a stream may leave, or lose what he may do, while it lasts. */
type Listener = { signal: AbortSignal; standing: () => Promise<Actor> }

type Poll = Pick<Listener, 'standing'> & { limit?: number; newestFirst?: boolean }

/** A Wish is the datasets and the events that a job asks for; `matches` is undefined when it asks for all. */
type Wish = { choose: DatasetSelection; matches: EventMatcher | undefined }

type Thin = (seqs: readonly bigint[]) => (seq: bigint) => boolean

/** MOVES_MAX is how often events are taken anew because somebody else took some of the same job meanwhile. */
const MOVES_MAX = 8

/**
 * LiveTails lets callers watch events as they arrive. Jobs, and how far they have come, are kept where every process finds them, so that any can go on with
 * any; each process reads for its own watchers.
 */
export class LiveTails {
  readonly #world: World
  readonly #tails: Tails
  readonly #watches = new Map<string, Watching>()
  readonly #texts = new WeakMap<FoundEvent, { as: string; text: string }>()
  #streams = 0

  constructor(world: World) {
    this.#world = world
    this.#tails = new Tails(world.clock, () => this.#watchesInUse())
  }

  async start(actor: Actor, ask: Ask): Promise<{ job_id: string }> {
    const { ids, clock, meta } = this.#world
    const nowMs = clock.nowMs()
    const condition = ask.where ?? ''
    const source = { from: ask.from, from_expr: ask.from_expr }
    const wish = wishOf({ source, condition })
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

  /** poll gives what is new. A read may last some seconds, so that the caller's rights are looked at again before the answer. */
  async poll(
    actor: Actor,
    id: string,
    { standing, limit = POLL_EVENTS, newestFirst = true }: Poll,
  ): Promise<{ logs: { events: Event[] }[] }> {
    for (let moves = 0; moves < MOVES_MAX; moves += 1) {
      const row = await this.#find(actor, id)
      const taken = await this.#take(actor, row, limit)
      if (!(await this.#move(row, taken, true))) continue
      const seen = await this.#visibleTo(await standing())
      const events = taken.events.filter(({ logId }) => seen.has(logId)).map((event) => shownIn(event, taken.view))
      return { logs: [{ events: newestFirst ? events.reverse() : events }] }
    }
    throw unavailable('this live tail is asked for too often at once')
  }

  /** stream gives the events as text until the time is over, the caller has left or may not watch any more, or the job is gone. */
  async stream(
    actor: Actor,
    id: string,
    { seconds = STREAM_SECONDS, signal, standing }: Listener & { seconds?: number | undefined },
  ): Promise<Readable> {
    const { clock, log } = this.#world
    const row = await this.#find(actor, id)
    const guard = openStreamGuard({ clock, log }, { standing, untilMs: clock.monotonicMs() + seconds * 1_000 })
    const ending = AbortSignal.any([signal, guard.over])
    return guard.guarded(Readable.from(this.#counted(row.id, this.#lines(row, guard, ending)), { objectMode: false }))
  }

  /** #counted counts a stream as long as it lasts. Nothing is held for it afterwards: who goes on with its job has what is new read again. */
  async *#counted(id: string, lines: AsyncGenerator<string>): AsyncGenerator<string> {
    this.#streams += 1
    try {
      yield* lines
    } finally {
      this.#streams -= 1
      this.#watches.delete(id)
      this.#tails.release()
    }
  }

  /** #lines checks what the caller may see before each read, and again before anything is sent. */
  async *#lines(begun: LiveTailRow, guard: StreamGuard, ending: AbortSignal): AsyncGenerator<string> {
    const { clock, meta } = this.#world
    let row: LiveTailRow | undefined = begun
    let spokenMs = clock.monotonicMs()
    yield ': watching\n\n'
    let saidOneOf = 1
    let share = firstShare(this.#streams, clock.nowMs())
    const thin: Thin = (seqs) => {
      share = thinned(share, seqs)
      const { oneOf } = share
      return (seq) => isOneOf(seq, oneOf)
    }
    while (row && !ending.aborted) {
      const actor = await guard.actor()
      share = shareNow(share, this.#streams, clock.nowMs())
      const taken: Take | undefined = actor && (await guard.unlessOver(this.#take(actor, row, STREAM_EVENTS, thin)))
      const isSilent = clock.monotonicMs() - spokenMs > ALIVE_MS
      const moved: LiveTailRow | undefined = taken && (await this.#move(row, taken, isSilent))
      if (taken && !moved) {
        row = await selectLiveTail(meta, row.org_id, row.id)
        continue
      }
      const stillHere = taken && (await guard.actor())
      const seen = stillHere && (await this.#visibleTo(stillHere))
      if (!seen || !moved) break
      row = moved
      const { missed } = taken
      const oneOf = taken.oneOf * share.oneOf
      share = { ...share, left: Math.max(0, share.left - taken.events.length) }
      if (oneOf !== saidOneOf) yield `: one of ${oneOf}\n\n`
      if (missed > 0) yield `: missed ${missed}\n\n`
      saidOneOf = oneOf
      const events = taken.events.filter(({ logId }) => seen.has(logId))
      if (events.length > 0) yield* this.#pieces(events, taken.view, guard)
      else if (isSilent) yield ': alive\n\n'
      else {
        await clock.sleep(STREAM_EVERY_MS, ending).catch(() => undefined)
        continue
      }
      spokenMs = clock.monotonicMs()
    }
    if (guard.isLost) yield OVER
  }

  /** #pieces gives the text of events in pieces of bounded size: a slow reader holds one of them. A caller who lost access in between gets no further one. */
  *#pieces(events: readonly FoundEvent[], view: View, guard: StreamGuard): Generator<string> {
    let piece = ''
    for (const event of events) {
      piece += this.#textOf(event, view)
      if (piece.length < PIECE_CHARACTERS) continue
      yield piece
      if (guard.isLost) return
      piece = ''
    }
    if (piece !== '') yield piece
  }

  /** #visibleTo are the ids of the datasets that an actor may see at this moment. */
  async #visibleTo(actor: Actor): Promise<ReadonlySet<string>> {
    return new Set((await visibleDatasets(this.#world, actor)).map(({ id }) => id))
  }

  /** #watchesInUse are how far the jobs have come that were asked for here within the last minute; nothing is held for others, which begin anew here. */
  *#watchesInUse(): Generator<Watch> {
    const goneMs = this.#world.clock.nowMs() - UNPOLLED_MS
    for (const [id, { watch, usedAtMs }] of this.#watches) {
      if (usedAtMs < goneMs) this.#watches.delete(id)
      else yield watch
    }
  }

  /** forget drops what nobody watches any more. */
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
   * #move notes how far the job has come, and gives it as it is then; undefined when somebody else took events of it meanwhile. A job that has not moved is
   * only kept alive, when it was asked for.
   */
  async #move(row: LiveTailRow, { events, before, position, watch, wish }: Take, isPolled: boolean): Promise<LiveTailRow | undefined> {
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

  /**
   * #readerFor reads on behalf of an organization: one read serves all of its tails, so that it has no role's budget, and those who watch are charged for it
   * in turn, each for datasets that they watch.
   */
  #readerFor(actor: Actor): Reader {
    const { orgId } = actor
    const ask = (datasets: Parameters<Reader['events']>[0], bounds: TimeBounds) =>
      buildEventQuery(this.#world, actor, {
        datasets,
        filter: ALL_EVENTS,
        bounds,
        signal: AbortSignal.timeout(READ_BOUND_MS),
        budget: serviceBudget(this.#world),
        reader: 'tail',
      })
    return {
      numbers: async (datasets, { after, oneOf, bounds }) => {
        const wish = { after, oneOf, limit: READ_EVENTS_MAX }
        const { found, hasMore, cost } = await readNumbers(this.#world.events, await ask(datasets, bounds), wish)
        return { found, hasMore, bytes: cost.bytes }
      },
      events: async (datasets, numbers) => {
        const wish = {
          limit: numbers.length,
          newestFirst: true,
          keys: 'all',
          withRaw: true,
          numbers: numbers.map(({ seq }) => seq),
        } as const
        const { events, cost } = await readEvents(this.#world.events, await ask(datasets, boundsOf(numbers)), wish)
        return { events, bytes: cost.bytes }
      },
      charge: (charges) => {
        for (const charge of charges) this.#world.usage.note({ kind: 'search', orgId, ...charge, latencyMs: 0, isMore: true })
      },
    }
  }

  /** #textOf is an event as it is sent, made once for all streams that show it alike, and kept as long as the event. */
  #textOf(event: FoundEvent, view: View): string {
    const { collection = '', dataset = '' } = view.places.get(event.logId) ?? {}
    const as = JSON.stringify([view.baseUrl, collection, dataset])
    const known = this.#texts.get(event)
    if (known?.as === as) return known.text
    const text = `data: ${JSON.stringify(shownIn(event, view))}\n\n`
    this.#texts.set(event, { as, text })
    return text
  }

  /** #take gives what is new to the job, the oldest first, of the datasets that it asks for and the caller may see as they are now; nothing is noted yet. */
  async #take(actor: Actor, row: LiveTailRow, limit: number, thin?: Thin): Promise<Take> {
    const nowMs = this.#world.clock.nowMs()
    const known = this.#watches.get(row.id)
    // What it has not had is held for it while it reads.
    if (known) this.#watches.set(row.id, { ...known, usedAtMs: nowMs })
    const { wish, watch } = known ?? { wish: wishOf(row), watch: new Map() }
    const written = known?.turn === row.turn ? known.position : row.position && decodePosition(row.position)
    const before = written ?? (row.position ? firstPosition(nowMs) : startPosition(nowMs))
    const datasets = wish.choose(await visibleDatasets(this.#world, actor))
    // All that is in a dataset younger than the watch has arrived since.
    const beganMs = row.began_at ?? nowMs
    const joined = new Set(datasets.flatMap(({ id, created_at }) => (created_at <= beganMs && !before.known.has(knownBy(id)) ? [id] : [])))
    const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
    const matches = wish.matches && placed(wish.matches, places)
    const request = { watcherId: actor.identity.id, backToMs: readBackMs(before), joined, watch }
    return this.#tails.read(datasets, this.#readerFor(actor), request, (tails) => {
      const taken = takeNew(tails, { position: before, watch, matches, joined, thin }, limit, nowMs)
      // What it has not taken here is held for it from now on.
      if (!known || taken.from.keys().some((id) => !watch.has(id)))
        this.#watches.set(row.id, {
          turn: NO_POSITION,
          position: before,
          usedAtMs: nowMs,
          ...known,
          wish,
          watch: new Map([...watch, ...taken.from]),
        })
      return { ...taken, wish, before, view: { baseUrl: actor.facts.baseUrl, places } }
    })
  }
}

/** placed applies a matcher to events as they were found; a line is decoded only when the condition reads it. */
function placed(matches: EventMatcher, places: View['places']): (event: FoundEvent) => boolean {
  return (event) => {
    const { collection = '', dataset = '' } = places.get(event.logId) ?? {}
    const matchable: MatchableEvent = {
      ...event,
      collection,
      dataset,
      get raw() {
        return rawText(event.raw)
      },
    }
    return matches(matchable)
  }
}

/** shownIn is an event as callers get it. */
function shownIn(event: FoundEvent, { baseUrl, places }: View): Event {
  const [shown] = shownEvents([event], { items: SELECT_ALL, baseUrl, places }).events
  if (!shown) throw new Error('an event was not shown')
  return shown
}

const NS_PER_MS = 1_000_000n

/** boundsOf is the range of time in which some numbers lie. */
function boundsOf(numbers: readonly EventNumber[]): TimeBounds {
  let [first = 0n, last = 0n] = [numbers[0]?.timeNs, numbers[0]?.timeNs]
  for (const { timeNs } of numbers) {
    if (timeNs < first) first = timeNs
    if (timeNs > last) last = timeNs
  }
  return { fromMs: Number(first / NS_PER_MS), toMs: Number(last / NS_PER_MS) + 1 }
}

function wishOf({ source, condition }: Pick<LiveTailRow, 'source' | 'condition'>): Wish {
  const { filter } = parseFilter(condition)
  return { matches: filter.kind === 'all' ? undefined : matcherOf(filter), choose: datasetSelectionOf(source) }
}
