import type { BodyOf, contract, Event } from '@dendro/api'
import { notFound } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import { type Matcher, matcherOf } from '../../query/matcher.ts'
import { parseFilter } from '../../query/query.ts'
import type { FoundEvent } from '../../reading/question.ts'
import { readEvents } from '../../reading/reading.ts'
import type { World } from '../../world.ts'
import { visibleDatasets } from '../datasets/datasets.ts'
import { type Choose, choiceOf, chosenDatasets } from '../datasets/source.ts'
import { noteSearch } from '../search/note-search.ts'
import { questionFor } from '../search/question.ts'
import { EVERYTHING, rawText, shownEvents } from '../search/shown-event.ts'
import { insertLiveTail, type LiveTailRow, removeLiveTails, selectLiveTail, touchLiveTail } from './rows.ts'
import { type ReadNew, Tails, type Taken, takeNew, type Watch } from './tails.ts'

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

/** A Watching is what this process knows of a job: what it asks for, read once, how far it has come, and when it was looked at here first and last. */
type Watching = { wish: Wish; watch: Watch; beganMs: number; usedAtMs: number }

/** A Wish is the datasets and the events that a job asks for. */
type Wish = { choose: Choose; matches: Matcher }

/** LiveTails lets callers watch events as they arrive. Jobs are kept where every process finds them; each process reads for its own watchers. */
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
    const condition = ask.where ?? ''
    const source = { from: ask.from, from_expr: ask.from_expr }
    const wish = wishOf({ source, condition })
    const datasets = await chosenDatasets(this.#world, actor, wish.choose)
    const row: LiveTailRow = {
      id: ids.uuid(),
      org_id: actor.orgId,
      identity: actor.identity,
      source,
      condition,
      polled_at: clock.nowMs(),
    }
    await insertLiveTail(meta, row)
    const startedMs = clock.monotonicMs()
    const nowMs = clock.nowMs()
    this.#watches.set(row.id, { wish, watch: new Map(), beganMs: nowMs, usedAtMs: nowMs })
    await this.#take(actor, row, 0)
    noteSearch(this.#world, actor, { datasets, bytes: 0, startedMs })
    return { job_id: row.id }
  }

  async poll(actor: Actor, id: string, { limit = POLL_EVENTS, newestFirst = true }): Promise<{ logs: { events: Event[] }[] }> {
    const row = await this.#find(actor, id)
    const { events } = await this.#take(actor, row, limit)
    await touchLiveTail(this.#world.meta, id, this.#world.clock.nowMs())
    return { logs: [{ events: newestFirst ? events.reverse() : events }] }
  }

  /** stream gives the events as text until the time is over, the caller has left, or the job is gone. */
  async stream(actor: Actor, id: string, { seconds = STREAM_SECONDS, signal }: { seconds?: number | undefined; signal: AbortSignal }) {
    const row = await this.#find(actor, id)
    return this.#lines(actor, row, { seconds, signal })
  }

  async *#lines(actor: Actor, row: LiveTailRow, { seconds, signal }: { seconds: number; signal: AbortSignal }): AsyncGenerator<string> {
    const { clock, meta } = this.#world
    const untilMs = clock.monotonicMs() + seconds * 1_000
    let spokenMs = clock.monotonicMs()
    yield ': watching\n\n'
    let saidOneOf = 1
    while (!signal.aborted && clock.monotonicMs() < untilMs) {
      const { events, oneOf, missed } = await this.#take(actor, row, STREAM_EVENTS)
      if (oneOf !== saidOneOf) yield `: one of ${oneOf}\n\n`
      if (missed > 0) yield `: missed ${missed}\n\n`
      saidOneOf = oneOf
      if (events.length > 0) yield events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
      else if (clock.monotonicMs() - spokenMs > ALIVE_MS) yield ': alive\n\n'
      else {
        await clock.sleep(STREAM_EVERY_MS, signal).catch(() => undefined)
        continue
      }
      spokenMs = clock.monotonicMs()
      await touchLiveTail(meta, row.id, clock.nowMs())
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

  /** #take gives what is new to the job, the oldest first, of the datasets that it asks for and the caller may see as they are now. */
  async #take(actor: Actor, row: LiveTailRow, limit: number): Promise<Omit<Taken, 'events'> & { events: Event[] }> {
    const nowMs = this.#world.clock.nowMs()
    const { wish, watch, beganMs } = this.#watches.get(row.id) ?? { wish: wishOf(row), watch: new Map(), beganMs: nowMs }
    this.#watches.set(row.id, { wish, watch, beganMs, usedAtMs: nowMs })
    const datasets = wish.choose(await visibleDatasets(this.#world, actor))
    // All that is in a dataset younger than the watch has arrived since.
    for (const { id, created_at } of datasets) if (created_at > beganMs && !watch.has(id)) watch.set(id, 0)
    const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
    const read: ReadNew = async (logIds, filter, bounds, oneOf) => {
      const due = datasets.filter(({ id }) => logIds.includes(id))
      const question = await questionFor(this.#world, actor, {
        datasets: due,
        filter,
        bounds,
        signal: AbortSignal.timeout(READ_BOUND_MS),
        reader: 'tail',
      })
      const wish = { limit: READ_EVENTS_MAX, newestFirst: true, keys: 'all', withRaw: true, oneOf } as const
      const { events, hasMore, cost } = await readEvents(this.#world.events, question, wish)
      // Who watches was counted when he began; what is read for all watchers of a dataset stands with the one whose turn it was.
      const { orgId, identity } = actor
      this.#world.usage.note({ kind: 'search', orgId, identityId: identity.id, logIds, bytes: cost.bytes, latencyMs: 0, isMore: true })
      return { events, hasMore }
    }
    const tails = await this.#tails.refresh(datasets, read)
    const matches = (event: FoundEvent): boolean => {
      const { collection = '', dataset = '' } = places.get(event.logId) ?? {}
      return wish.matches({ ...event, raw: rawText(event.raw), collection, dataset })
    }
    const { events, ...said } = takeNew(tails, watch, matches, limit)
    return { ...said, events: shownEvents(events, { items: EVERYTHING, baseUrl: actor.facts.baseUrl, places }).events }
  }
}

const wishOf = ({ source, condition }: Pick<LiveTailRow, 'source' | 'condition'>): Wish => ({
  matches: matcherOf(parseFilter(condition).filter),
  choose: choiceOf(source),
})
