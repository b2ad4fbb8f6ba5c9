import {
  addSourceCounts,
  type QueueMessage,
  type SourceBucket,
  type SourceObject,
  type SourceQueue,
} from '../../resources/data/sources/sources.ts'
import { type NotedObject, readNotification } from './notifications.ts'
import { type BucketSource, type ObjectPositions, partOf } from './object-positions.ts'
import type { SourceWorld } from './post.ts'

/** A message of which objects are still to be read. */
type HeldMessage = { receipt: string; hiddenMs: number; readonly open: Set<string> }

/** Beyond this number of objects that wait no more messages are received. */
const OPEN_MAX = 500
const RECEIVE_MS = 2_000
/** How old a message may become before it is hidden again from others. */
const HIDE_AFTER_MS = 10_000
/** How often a message is received that cannot be read. Then it is removed, unless the queue has put it with its dead letters before. */
const TRIES_MAX = 5
/** The time of a notification may be before that which the bucket gives its object. */
const EARLY_MS = 60_000

/** Holds the messages of a queue until the objects that they name are stored. */
export class BucketQueue {
  readonly #world: SourceWorld
  readonly #source: BucketSource
  readonly #held = new Map<string, HeldMessage>()
  /** The objects to read, by their parts. */
  readonly objects = new Map<string, SourceObject>()
  #settled: string[] = []
  /** Why a message could not be read. */
  failure: string | undefined

  constructor(world: SourceWorld, source: BucketSource) {
    this.#world = world
    this.#source = source
  }

  /** Receives what is there. `waits` where there is nothing else to do. */
  async receive(queue: SourceQueue, bucket: SourceBucket, positions: ObjectPositions, waits: boolean): Promise<void> {
    const { clock } = this.#world
    const untilMs = clock.monotonicMs() + RECEIVE_MS
    await this.#keepHidden(queue)
    for (let isFirst = true; this.objects.size < OPEN_MAX && clock.monotonicMs() < untilMs; isFirst = false) {
      const messages = await queue.receive(isFirst && waits && this.objects.size === 0 ? 1 : 0)
      if (messages.length === 0) break
      for (const message of messages) await this.#take(message, bucket, positions)
    }
    await this.removeSettled(queue)
  }

  /** Notes that an object was read to its end, or does not exist any more. */
  settle(part: string): void {
    this.objects.delete(part)
    for (const [id, { open, receipt }] of this.#held) {
      if (!open.delete(part) || open.size > 0) continue
      this.#held.delete(id)
      this.#settled.push(receipt)
    }
  }

  /** Removes the messages of which all objects are stored. */
  async removeSettled(queue: SourceQueue): Promise<void> {
    const settled = this.#settled
    this.#settled = []
    // One that stays comes again, and its objects are known then.
    await queue.remove(settled)
  }

  async #keepHidden(queue: SourceQueue): Promise<void> {
    const nowMs = this.#world.clock.monotonicMs()
    const old = [...this.#held.values()].filter(({ hiddenMs }) => nowMs - hiddenMs > HIDE_AFTER_MS)
    await queue.keep(old.map(({ receipt }) => receipt))
    for (const message of old) message.hiddenMs = nowMs
  }

  async #take({ id, receipt, body, tries }: QueueMessage, bucket: SourceBucket, positions: ObjectPositions): Promise<void> {
    const { clock, meta } = this.#world
    const notification = readNotification(body)
    if (notification.kind === 'unreadable') {
      this.failure = `a message of the queue is no notification of objects: ${notification.reason}`
      if (tries === undefined || tries === 1)
        await addSourceCounts(meta, this.#source.id, { events: 0, bytes: 0, refused: 1 }, clock.nowMs())
      if (tries === undefined || tries >= TRIES_MAX) this.#settled.push(receipt)
      return
    }
    const open = new Set<string>()
    for (const noted of notification.objects) {
      const found = await this.#objectOf(noted, bucket)
      if (!found || positions.isRead(found)) continue
      open.add(partOf(found))
      this.objects.set(partOf(found), { ...found, modifiedMs: found.modifiedMs + EARLY_MS })
    }
    if (open.size === 0) {
      this.#settled.push(receipt)
      this.#held.delete(id)
    } else this.#held.set(id, { receipt, open, hiddenMs: clock.monotonicMs() })
  }

  /** The object of a notification; undefined for one of another place, and for one without content. */
  async #objectOf({ bucket: name, key, tag, size, modifiedMs }: NotedObject, bucket: SourceBucket): Promise<SourceObject | undefined> {
    const { origin } = this.#source
    if (name !== origin.bucket || !key.startsWith(origin.prefix)) return undefined
    const found = tag === '' || size === undefined ? await bucket.find(key) : { key, tag, size, modifiedMs }
    return found?.size === 0 ? undefined : found
  }
}
