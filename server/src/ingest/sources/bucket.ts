import {
  noteSourceCheck,
  noteSourceWaiting,
  ObjectChanged,
  openOriginSecrets,
  openSourceBucket,
  openSourceQueue,
  type SourceBucket,
  type SourceObject,
  type SourceQueue,
} from '../../resources/data/sources/sources.ts'
import { checkExpansion } from '../parquet/parquet-content.ts'
import { StepPlace } from '../parquet/reader-places.ts'
import { object } from '../receivers/file/file.ts'
import { BucketQueue } from './bucket-queue.ts'
import { BrokenContent } from './content.ts'
import { advanceUntil, refuseContent } from './content-batches.ts'
import { type ObjectContent, openObject } from './object-content.ts'
import { GROUP_MAX, type GroupEnd, type GroupPlace, repeatGroup, SMALL_BYTES, storeGroup } from './object-groups.ts'
import { type BucketSource, type ObjectPosition, ObjectPositions, partOf, REMEMBERED_MAX } from './object-positions.ts'
import type { SourceWorld } from './post.ts'

const STEP_MS = 5_000
/** How many larger objects are read at once. */
const AT_ONCE = 4
const LIST_EVERY_MS = 15_000
/** How often a bucket is listed of which a queue tells new objects, and how often at most. */
const SWEEP_EVERY_MS = 3_600_000
const SWEEP_PAUSE_MS = 60_000
const RECEIVE_EVERY_MS = 5_000
/** For how long it is shown that an object or a message could not be read. */
const FAILURE_MS = 300_000
/** When a place to read Parquet is looked for again. */
const PLACE_AGAIN_MS = 1_000
/** How many objects are chosen in one listing, oldest first. */
const CHOSEN_MAX = 5_000

/** What the reading of objects in one step has in common. */
type ObjectStep = GroupPlace & { readonly untilMs: number; readonly signal: AbortSignal; readonly parquet: StepPlace }

/** Reads the objects of a bucket: those that a queue tells first, then oldest first. One process at a time has it. */
export class BucketReader {
  readonly #world: SourceWorld
  readonly #source: BucketSource
  readonly #queue: BucketQueue | undefined
  #positions: ObjectPositions | undefined
  /** What is to be read of a listing, by its parts. */
  #chosen = new Map<string, SourceObject>()
  /** What an earlier reader had begun. Nothing is received before it is stored: where that fails for long, messages would come too often. */
  #begun = new Map<string, SourceObject>()
  /** The small objects that are read alone, by their parts: they are large when they are decompressed, or were refused with others. */
  readonly #alone = new Set<string>()
  /** The Parquet objects that are not read yet, with where their row groups begin in their lines, as far as it is known. */
  readonly #parquet = new Map<string, number[]>()
  #waiting = 0
  /** When everything was listed that is being read; undefined where it was too much for one listing. */
  #listedAtMs: number | undefined
  #listedMs = Number.NEGATIVE_INFINITY
  #failure: { readonly text: string; readonly atMs: number } | undefined

  constructor(world: SourceWorld, source: BucketSource) {
    this.#world = world
    this.#source = source
    this.#queue = source.origin.queue_url === undefined ? undefined : new BucketQueue(world, source)
  }

  async step(signal: AbortSignal): Promise<{ againInMs: number }> {
    const { clock, meta, outgoing } = this.#world
    const { origin, id } = this.#source
    const secrets = await openOriginSecrets(this.#world, meta, this.#source)
    const bucket = await openSourceBucket(outgoing, origin, secrets, signal)
    const queue = origin.queue_url === undefined ? undefined : await openSourceQueue(outgoing, origin.queue_url, origin, secrets, signal)
    const parquet = new StepPlace(this.#world.parquetPlaces, this.#source)
    try {
      if (!this.#positions) {
        this.#positions = await ObjectPositions.load(this.#world, this.#source)
        this.#begun = new Map(this.#positions.begun().map((one) => [partOf(one), one]))
      }
      const positions = this.#positions
      const place: GroupPlace = { world: this.#world, source: this.#source, bucket, positions }
      for (const rows of positions.groups()) this.#endGroup(await repeatGroup(place, rows))
      // A queue that cannot be read does not keep objects waiting that a listing finds.
      const trouble = queue && this.#begun.size === 0 ? await this.#receive(queue, bucket, positions) : undefined
      const startedMs = clock.monotonicMs()
      if (this.#isListDue(positions)) await this.#list(bucket, positions)
      const listMs = clock.monotonicMs() - startedMs
      await noteSourceWaiting(meta, id, this.#waitingBytes())
      const untilMs = clock.monotonicMs() + STEP_MS
      const step: ObjectStep = { ...place, untilMs, signal, parquet }
      for (let some = this.#next(); some.length > 0 && clock.monotonicMs() < untilMs; some = this.#next(parquet.isRefused)) {
        signal.throwIfAborted()
        if (this.#isSmall(some[0])) this.#endGroup(await storeGroup(place, some))
        else {
          const ended = await Promise.all(some.map((one) => this.#readObject(step, one)))
          for (const [index, one] of some.entries()) if (ended[index]) this.#settle(one)
        }
        if (queue) await this.#queue?.removeSettled(queue)
      }
      const isDone = this.#next().length === 0
      if (trouble && isDone) throw trouble.cause
      if (isDone) await this.#noteSwept(positions)
      if (this.#queue?.failure) this.#fail(this.#queue.failure)
      if (this.#queue) this.#queue.failure = undefined
      if (clock.monotonicMs() - (this.#failure?.atMs ?? 0) > FAILURE_MS) this.#failure = undefined
      const failure = trouble ? (trouble.cause as Error).message : (this.#failure?.text ?? null)
      await noteSourceCheck(meta, id, { waiting: this.#waitingBytes(), failure, nowMs: clock.nowMs() })
      if (!isDone) return { againInMs: parquet.isRefused ? PLACE_AGAIN_MS : 0 }
      return { againInMs: queue ? RECEIVE_EVERY_MS : Math.max(LIST_EVERY_MS, 10 * listMs) }
    } finally {
      parquet.end()
      bucket.close()
      queue?.close()
    }
  }

  async #receive(queue: SourceQueue, bucket: SourceBucket, positions: ObjectPositions): Promise<{ cause: unknown } | undefined> {
    // Without a horizon it is not known which objects are to be read.
    if (!positions.horizon) return undefined
    try {
      await this.#queue?.receive(queue, bucket, positions, this.#chosen.size === 0)
      return undefined
    } catch (cause) {
      return { cause }
    }
  }

  /** The objects to read next: small ones for one group, or some larger ones. */
  #next(isWithoutParquet = false): SourceObject[] {
    const some = new Map<string, SourceObject>()
    let isSmall: boolean | undefined
    for (const all of [this.#begun, this.#queue?.objects ?? [], this.#chosen] as Iterable<[string, SourceObject]>[]) {
      for (const [part, one] of all) {
        if (isWithoutParquet && this.#parquet.has(part)) continue
        isSmall ??= this.#isSmall(one)
        if (isSmall !== this.#isSmall(one)) continue
        some.set(part, one)
        if (some.size >= (isSmall ? GROUP_MAX : AT_ONCE)) return [...some.values()]
      }
    }
    return [...some.values()]
  }

  /** Whether an object is read with others. */
  #isSmall(found: SourceObject | undefined): boolean {
    return found !== undefined && found.size <= SMALL_BYTES && !this.#begun.has(partOf(found)) && !this.#alone.has(partOf(found))
  }

  #endGroup({ settled, alone, failure }: GroupEnd): void {
    for (const one of alone) this.#alone.add(partOf(one))
    for (const one of settled) this.#settle(one)
    if (failure !== undefined) this.#fail(failure)
  }

  #settle(found: SourceObject): void {
    const part = partOf(found)
    if (this.#chosen.delete(part)) this.#waiting -= found.size
    this.#begun.delete(part)
    this.#alone.delete(part)
    this.#parquet.delete(part)
    this.#queue?.settle(part)
  }

  #fail(text: string): void {
    this.#failure = { text, atMs: this.#world.clock.monotonicMs() }
  }

  #waitingBytes(): number {
    const noted = [...(this.#queue?.objects ?? [])].reduce((sum, [part, { size }]) => sum + (this.#chosen.has(part) ? 0 : size), 0)
    return Math.max(0, this.#waiting) + noted
  }

  #isListDue(positions: ObjectPositions): boolean {
    if (this.#chosen.size > 0) return false
    if (!this.#queue || !positions.horizon) return true
    const { clock } = this.#world
    const agoMs = clock.nowMs() - (positions.horizon.details.swept ?? Number.NEGATIVE_INFINITY)
    // More was found than one listing chooses, or than is to be remembered.
    const isMore = this.#listedAtMs === undefined || positions.count > 2 * REMEMBERED_MAX
    if (Number.isFinite(this.#listedMs) && isMore) return clock.monotonicMs() - this.#listedMs > SWEEP_PAUSE_MS
    return agoMs < 0 || agoMs > SWEEP_EVERY_MS
  }

  /** Chooses the oldest objects that were not read yet, and forgets those that the horizon covers. */
  async #list(bucket: SourceBucket, positions: ObjectPositions): Promise<void> {
    const { clock } = this.#world
    const startedAtMs = clock.nowMs()
    const isEnd = !positions.horizon && this.#source.origin.start === 'END'
    // Servers tell whole seconds.
    const begunAtMs = isEnd ? this.#source.modified_at - (this.#source.modified_at % 1_000) : 0
    let [newestMs, waiting] = [0, 0]
    let chosen: SourceObject[] = []
    for await (const page of bucket.list()) {
      for (const found of page) {
        newestMs = Math.max(newestMs, found.modifiedMs)
        if (positions.isRead(found) || found.modifiedMs < begunAtMs) continue
        waiting += found.size
        chosen.push(found)
      }
      if (chosen.length > 2 * CHOSEN_MAX) chosen = oldestOf(chosen)
    }
    this.#listedMs = clock.monotonicMs()
    // The clock of the bucket may be slow.
    if (!positions.horizon) await positions.addHorizon(isEnd ? Math.min(newestMs + 1, begunAtMs) : 0)
    else await positions.moveHorizon(chosen.reduce((least, { modifiedMs }) => Math.min(least, modifiedMs), newestMs))
    this.#listedAtMs = chosen.length <= CHOSEN_MAX ? startedAtMs : undefined
    this.#chosen = new Map(oldestOf(chosen).map((one) => [partOf(one), one]))
    this.#waiting = waiting
  }

  /** The next listing can wait once everything is read that the last one found. */
  async #noteSwept(positions: ObjectPositions): Promise<void> {
    if (!this.#queue || this.#listedAtMs === undefined || positions.horizon?.details.swept === this.#listedAtMs) return
    await positions.noteSwept(this.#listedAtMs)
  }

  /** Reads an object from where it was read to. Returns false when there is more. */
  async #readObject(step: ObjectStep, found: SourceObject): Promise<boolean> {
    if (step.positions.at(found)?.details.done) return true
    const part = partOf(found)
    const starts = this.#parquet.get(part) ?? [0]
    let content: ObjectContent | undefined
    try {
      content = await openObject(step.bucket, this.#source, found, { signal: step.signal, starts })
      const opened = content
      if (opened.bytes === undefined) return await this.#readContent(step, found, opened)
      this.#parquet.set(part, starts)
      const isOver = () => this.#world.clock.monotonicMs() > step.untilMs
      return (await step.parquet.use(() => this.#readContent(step, found, opened), isOver)) ?? false
    } catch (thrown) {
      if (!(thrown instanceof ObjectChanged)) throw thrown
      // It was deleted or replaced meanwhile; what replaces it is an object of its own.
      const { positions } = step
      await positions.finish(positions.at(found) ?? (await positions.add(found)))
      return true
    } finally {
      await content?.close()
    }
  }

  async #readContent({ positions, untilMs, signal }: ObjectStep, found: SourceObject, content: ObjectContent): Promise<boolean> {
    const first = positions.at(found) ?? (await positions.add(found))
    const query = { 's3.bucket': this.#source.origin.bucket, 's3.key': found.key }
    const part = { content, isFinal: true, parser: object, query, signal, isKnownByBytes: false }
    let broken: BrokenContent | undefined
    try {
      const onRow = (row: ObjectPosition): void => {
        positions.put(row)
        if (content.bytes !== undefined) checkExpansion(row.position, content.bytes)
      }
      if (!(await advanceUntil(this.#world, this.#source, first, part, { untilMs, onRow }))) return false
    } catch (thrown) {
      if (!(thrown instanceof BrokenContent)) throw thrown
      broken = thrown
    }
    broken ??= content.broken()
    const row = positions.at(found) ?? first
    if (!broken) await positions.finish(row)
    else {
      // An object does not change, so that nothing more of it can ever be read.
      this.#fail(`${found.key}: ${broken.message}`)
      positions.put(await refuseContent(this.#world, this.#source, row, { ...row.details, done: true }))
    }
    return true
  }
}

const oldestOf = (objects: readonly SourceObject[]): SourceObject[] =>
  objects.toSorted((a, b) => a.modifiedMs - b.modifiedMs || (a.key < b.key ? -1 : 1)).slice(0, CHOSEN_MAX)
