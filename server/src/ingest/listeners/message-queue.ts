import { Failure, forbidden } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { World } from '../../world.ts'
import type { IngestRequest, MessageParser } from '../batch.ts'
import { busy } from '../intake/budget.ts'
import type { Intake } from '../intake/intake.ts'
import type { RoutingRequest } from '../intake/routing.ts'
import { MessageBody, type MessageSource } from '../receivers/messages.ts'
import { mayPass, type SenderAccess } from './access.ts'
import type { ListenerCounters } from './counters.ts'

/** The result of a message: undefined once it is durable, else the reason why it is given up. */
export type MessageEnd = (failure: Failure | undefined) => void
type Waiting = { message: Uint8Array; source: MessageSource; ended: MessageEnd | undefined }

export type QueueOptions = {
  parser: MessageParser
  routing: RoutingRequest
  /** Bounds the messages of this queue that wait, with what keeping each costs. */
  bytesMax: number
  /** Bounds those of all queues of the listener together. */
  memory: QueueMemory
  counters: ListenerCounters
}
type QueueWorld = Pick<World, 'ids' | 'log'>

/** A post begins when it is this large, or this long after its first message. */
const POST_BYTES = 2 * 2 ** 20
const POST_MESSAGES = 10_000
const POST_AFTER_MS = 200
const HASTE_MS = 5
const POSTS_AT_ONCE = 2
/** The memory of a waiting message besides its bytes. */
const MESSAGE_COST_BYTES = 256
const costOf = (message: Uint8Array): number => message.length + MESSAGE_COST_BYTES
const ALONE_AT_ONCE = 8
const RETRY_MIN_MS = 200
const RETRY_MAX_MS = 5_000
const CONTENT_TYPE = 'application/octet-stream'

/** The memory that the queues of one listener share, and the senders that wait for some. */
export class QueueMemory {
  readonly #bytesMax: number
  #bytes = 0
  #waiting: { queue: Pick<MessageQueue, 'isFull'>; callback: () => void }[] = []

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax
  }

  take(bytes: number): void {
    this.#bytes += bytes
  }

  /** Returns memory, and lets those senders go on whose queue has space again. */
  giveBack(bytes: number): void {
    this.#bytes -= bytes
    const ready = this.#waiting.filter(({ queue }) => !queue.isFull)
    this.#waiting = this.#waiting.filter(({ queue }) => queue.isFull)
    for (const { callback } of ready) callback()
  }

  wait(queue: Pick<MessageQueue, 'isFull'>, callback: () => void): void {
    this.#waiting.push({ queue, callback })
  }
}

/**
 * Collects the messages of one API key and stores them in posts. While storing fails, it keeps them and tries again, and its senders have
 * to wait or, on UDP, lose what does not fit.
 */
export class MessageQueue {
  readonly #world: QueueWorld
  readonly #intake: Pick<Intake, 'storeMessages'>
  readonly #access: SenderAccess
  readonly #key: Secret
  readonly #options: QueueOptions
  readonly #stop = new AbortController()
  #waiting: Waiting[] = []
  readonly #alone: { waiting: Waiting; idempotencyKey: string }[] = []
  #waitingBytes = 0
  /** The bytes that wait or are being stored. */
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  readonly #posts = new Set<Promise<void>>()

  constructor(world: QueueWorld & { intake: Pick<Intake, 'storeMessages'>; access: SenderAccess }, key: Secret, options: QueueOptions) {
    this.#world = world
    this.#intake = world.intake
    this.#access = world.access
    this.#key = key
    this.#options = options
  }

  get isFull(): boolean {
    return this.#bytes >= this.#options.bytesMax || this.#options.memory.isFull
  }

  get isIdle(): boolean {
    return this.#bytes === 0
  }

  /** Calls back once there is space again. */
  onSpace(callback: () => void): void {
    if (this.isFull) this.#options.memory.wait(this, callback)
    else callback()
  }

  /** Adds a message; `haste` is for senders that wait for the answer before they send more. */
  add(message: Uint8Array, source: MessageSource, ended?: MessageEnd, haste?: 'haste'): void {
    const cost = costOf(message)
    this.#waiting.push({ message, source, ended })
    this.#waitingBytes += cost
    this.#bytes += cost
    this.#options.memory.take(cost)
    this.#options.counters.messages += 1
    if (this.#waitingBytes >= POST_BYTES || this.#waiting.length >= POST_MESSAGES) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), haste ? HASTE_MS : POST_AFTER_MS)
  }

  /** Adds a message that is stored as a post of its own, since it has an idempotency key. */
  addAlone(message: Uint8Array, source: MessageSource, ended: MessageEnd, idempotencyKey: string): void {
    this.#bytes += costOf(message)
    this.#options.memory.take(costOf(message))
    this.#options.counters.messages += 1
    this.#alone.push({ waiting: { message, source, ended }, idempotencyKey })
    this.#startAlone()
  }

  /** Stores what waits. What cannot be stored within the time is given up. */
  async close(withinMs: number): Promise<void> {
    const late = setTimeout(() => this.#stop.abort(), withinMs)
    while (this.#waiting.length > 0 || this.#alone.length > 0 || this.#posts.size > 0) {
      this.#start()
      this.#startAlone()
      await Promise.race(this.#posts)
    }
    clearTimeout(late)
    clearTimeout(this.#timer)
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.length === 0 || this.#posts.size >= POSTS_AT_ONCE) return
    const batch = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#run(batch, this.#world.ids.uuid())
  }

  #startAlone(): void {
    while (this.#posts.size < ALONE_AT_ONCE) {
      const next = this.#alone.shift()
      if (!next) return
      this.#run([next.waiting], next.idempotencyKey)
    }
  }

  #run(batch: readonly Waiting[], idempotencyKey: string): void {
    const post = this.#store(batch, idempotencyKey).finally(() => {
      this.#posts.delete(post)
      const bytes = batch.reduce((sum, { message }) => sum + costOf(message), 0)
      this.#bytes -= bytes
      this.#startAlone()
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#start(), 0)
      this.#options.memory.giveBack(bytes)
    })
    this.#posts.add(post)
  }

  async #store(batch: readonly Waiting[], idempotencyKey: string): Promise<void> {
    const failure = await this.#storeUntilDone(batch, idempotencyKey)
    const [first, ...rest] = batch
    // A post that asks too much of the worker is halved, until the message that does so stands alone.
    if (failure?.status === 413 && first && rest.length > 0) {
      const middle = Math.ceil(batch.length / 2)
      await this.#store(batch.slice(0, middle), this.#world.ids.uuid())
      return this.#store(batch.slice(middle), this.#world.ids.uuid())
    }
    if (failure) this.#options.counters.drop('refused', batch.length)
    for (const { ended } of batch) ended?.(failure)
  }

  /** Repeats the post until it is stored, or refused for good. Its idempotency key keeps a repetition from storing an event twice. */
  async #storeUntilDone(batch: readonly Waiting[], idempotencyKey: string): Promise<Failure | undefined> {
    const headers = { 'idempotency-key': idempotencyKey }
    const attempts = { isSplit: false }
    for (let delayMs = RETRY_MIN_MS; ; delayMs = Math.min(RETRY_MAX_MS, delayMs * 2)) {
      const failure = await this.#post(batch, headers, attempts)
      if (!failure) return undefined
      if (!mayPass(failure) || this.#stop.signal.aborted) return failure
      this.#world.log.warn({ listener: this.#options.counters.name, details: failure.message }, 'messages wait to be stored')
      await pause(delayMs, this.#stop.signal)
    }
  }

  async #post(batch: readonly Waiting[], headers: Record<string, string>, attempts: { isSplit: boolean }): Promise<Failure | undefined> {
    const { parser, routing, counters } = this.#options
    try {
      const actor = await this.#access.actorOf(this.#key, batch[0]?.source.address ?? '', `ingestion.${parser.name}`)
      const { mayCallFrom } = actor
      const allowed = mayCallFrom ? batch.filter(({ source }) => mayCallFrom(source.address)) : batch
      if (allowed.length === 0) return forbidden('allowed_addresses of the API key do not include the address of the sender')
      const body = new MessageBody()
      let wireBytes = 0
      for (const { message, source } of allowed) {
        body.add(message, source)
        wireBytes += message.length
      }
      const request: IngestRequest = { path: '', query: {}, headers, contentType: CONTENT_TYPE, body: body.bytes() }
      const isLost = (failure: Failure): boolean => this.#isLast(failure, batch)
      const batchOf = { actor, parser, routing, request, wireBytes, isLost, attempts }
      const { parsed, leftOut = 0 } = await this.#intake.storeMessages({ ...batchOf, leavesOutLimited: true })
      const refused = leftOut + batch.length - allowed.length
      if (refused > 0) counters.drop('refused', refused)
      if (parsed && parsed.rejected.length > 0) counters.drop('malformed', parsed.rejected.length)
      return undefined
    } catch (thrown) {
      if (thrown instanceof Failure) return thrown
      this.#world.log.error({ err: thrown, listener: counters.name }, 'unexpected error while messages were stored')
      return busy('the service failed unexpectedly')
    }
  }

  /** True when these messages are given up after the failure. */
  #isLast(failure: Failure, batch: readonly Waiting[]): boolean {
    if (failure.status === 413 && batch.length > 1) return false
    return !mayPass(failure) || this.#stop.signal.aborted
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(end, ms)
    function end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      done()
    }
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
