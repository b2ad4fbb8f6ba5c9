import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type AttemptOutcome, outcomeOf, pauseMs } from './delivery.ts'
import { EventQueue, type QueuedEvent } from './event-queue.ts'
import { type DropReport, type LossReason, type ResolvedSenderOptions, resolveOptions, type SenderOptions } from './sender-options.ts'

export type { DropReport, LossReason, SenderOptions }

const compress = promisify(gzip)
/** A smaller body is not compressed. */
const COMPRESSED_BYTES_MIN = 1_024

/**
 * Sends lines of JSON in batches. `send` never waits and never throws. One batch is in flight at a time, so that events keep their order; it is retried
 * with one idempotency key until the service has stored it, so that nothing is stored twice.
 */
export class BatchSender {
  readonly #options: ResolvedSenderOptions
  readonly #queue: EventQueue
  readonly #drops = new Map<LossReason, number>()
  #dropsTotal = 0
  /** Drops that no summary event in the dataset mentions yet. */
  #dropsWithoutEvent = 0
  #isFailing = false
  #delivery: Promise<void> | undefined
  #linger: NodeJS.Timeout | undefined
  /** Aborted at the time limit of a flush: what is left is given up. */
  #giveUp = new AbortController()
  /** Ends the pause between attempts early. */
  #wake: (() => void) | undefined
  #isClosed = false
  readonly #onBeforeExit = (): void => void this.flush()

  constructor(options: SenderOptions = {}) {
    this.#options = resolveOptions(options)
    this.#queue = new EventQueue({ eventsMax: this.#options.queueEventsMax, bytesMax: this.#options.queueBytesMax })
    process.on('beforeExit', this.#onBeforeExit)
  }

  /** Queues an event, which is one line of JSON or text; false if it was dropped and counted. */
  send(line: string): boolean {
    const { eventBytesMax, batchEventsMax, batchBytesMax, lingerMs } = this.#options
    const event = { line, bytes: Buffer.byteLength(line) + 1 }
    if (this.#isClosed) return this.#drop('closed', 1)
    if (event.bytes > eventBytesMax) return this.#drop('too_large', 1)
    if (!this.#queue.add(event)) return this.#drop('queue_full', 1)
    if (this.#delivery) return true
    if (this.#queue.length >= batchEventsMax || this.#queue.waitingBytes >= batchBytesMax) this.#deliver()
    // A waiting event does not keep the process alive: at its end, `beforeExit` sends it.
    else this.#linger ??= setTimeout(() => this.#deliver(), lingerMs).unref()
    return true
  }

  /** Sends everything that waits; after the time limit the rest is dropped and counted. True if everything was delivered. */
  async flush(limitMs: number = this.#options.closeTimeoutMs): Promise<boolean> {
    const before = this.#drops.get('closed') ?? 0
    if (this.#queue.length > 0 || this.#delivery) {
      const giveUp = this.#giveUp
      // This timer also keeps the process alive.
      const timer = setTimeout(() => giveUp.abort(), limitMs)
      this.#wake?.()
      this.#deliver()
      while (this.#delivery) await this.#delivery
      clearTimeout(timer)
      if (giveUp.signal.aborted && this.#giveUp === giveUp) this.#giveUp = new AbortController()
    }
    const isComplete = (this.#drops.get('closed') ?? 0) === before
    this.#reportDrops()
    return isComplete
  }

  /** Flushes, and accepts no more events. */
  async close(limitMs?: number): Promise<boolean> {
    this.#isClosed = true
    process.off('beforeExit', this.#onBeforeExit)
    return this.flush(limitMs)
  }

  #deliver(): void {
    clearTimeout(this.#linger)
    this.#linger = undefined
    if (this.#delivery) return
    this.#delivery = this.#deliverAll().finally(() => {
      this.#delivery = undefined
      if (this.#queue.length > 0) this.#deliver()
    })
  }

  async #deliverAll(): Promise<void> {
    const { batchEventsMax, batchBytesMax } = this.#options
    while (this.#queue.length > 0) {
      const events = this.#queue.take(batchEventsMax, batchBytesMax)
      await this.#deliverBatch(events)
      this.#queue.release(events)
      // A flush that gives up reports everything at its end.
      if (!this.#giveUp.signal.aborted) this.#reportDrops()
      this.#addDropEvent()
    }
  }

  async #deliverBatch(events: readonly QueuedEvent[]): Promise<void> {
    const text = Buffer.from(`${events.map(({ line }) => line).join('\n')}\n`)
    const isCompressed = this.#options.compression === 'gzip' && text.length >= COMPRESSED_BYTES_MIN
    const body = isCompressed ? await compress(text, { level: 1 }) : text
    const headers = {
      'content-type': 'application/x-ndjson',
      'x-service-api-key': this.#options.key,
      'idempotency-key': randomUUID(),
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    }
    for (let attempt = 1; !this.#giveUp.signal.aborted; attempt += 1) {
      const outcome = await this.#attempt(body, headers)
      if (outcome.kind === 'stored') {
        this.#isFailing = false
        return
      }
      if (outcome.kind === 'split' && events.length > 1) {
        const middle = Math.ceil(events.length / 2)
        await this.#deliverBatch(events.slice(0, middle))
        return this.#deliverBatch(events.slice(middle))
      }
      if (outcome.kind === 'split' || outcome.kind === 'refused') {
        this.#drop('rejected', events.length)
        return this.#report(outcome.kind === 'split' ? 'the service refused an event for its size' : outcome.error)
      }
      if (!this.#isFailing && !this.#giveUp.signal.aborted) this.#report(outcome.error)
      this.#isFailing = true
      this.#reportDrops()
      await this.#pause(pauseMs(attempt, Math.random(), outcome.afterMs))
    }
    this.#drop('closed', events.length)
  }

  async #attempt(body: Buffer, headers: Record<string, string>): Promise<AttemptOutcome> {
    const { target, requestTimeoutMs } = this.#options
    const timeout = new AbortController()
    const abort = (): void => timeout.abort()
    const timer = setTimeout(abort, requestTimeoutMs)
    this.#giveUp.signal.addEventListener('abort', abort)
    try {
      const response = await fetch(target, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
        redirect: 'manual',
        signal: timeout.signal,
      })
      const text = await response.text()
      const outcome = outcomeOf(response.status, response.headers.get('retry-after'), Date.now(), text)
      if (outcome.kind === 'stored') this.#countRejected(text)
      return outcome
    } catch (thrown) {
      const cause = thrown instanceof Error && thrown.cause instanceof Error ? `: ${thrown.cause.message}` : ''
      return { kind: 'retry', error: timeout.signal.aborted ? 'the service did not answer in time' : `${String(thrown)}${cause}` }
    } finally {
      clearTimeout(timer)
      this.#giveUp.signal.removeEventListener('abort', abort)
    }
  }

  /** The service stores a batch without the events that it cannot read, and counts them. */
  #countRejected(text: string): void {
    const count = Number(/"rejected":(\d+)/.exec(text)?.[1] ?? 0)
    if (count === 0) return
    this.#drop('rejected', count)
    this.#report(`the service rejected ${count} events: ${text.slice(0, 500)}`)
  }

  #pause(ms: number): Promise<void> {
    if (this.#giveUp.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const { signal } = this.#giveUp
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(done, ms).unref()
      signal.addEventListener('abort', done)
      this.#wake = done
    })
  }

  #drop(reason: LossReason, count: number): false {
    this.#drops.set(reason, (this.#drops.get(reason) ?? 0) + count)
    this.#dropsTotal += count
    this.#dropsWithoutEvent += count
    this.#unreported.set(reason, (this.#unreported.get(reason) ?? 0) + count)
    return false
  }

  readonly #unreported = new Map<LossReason, number>()

  #reportDrops(): void {
    if (this.#unreported.size === 0) return
    const reasons = Object.fromEntries(this.#unreported)
    const count = [...this.#unreported.values()].reduce((sum, one) => sum + one, 0)
    this.#unreported.clear()
    callSafely(() => this.#options.onDrop({ count, reasons, total: this.#dropsTotal }))
  }

  /** Once the service stores again, one event in the dataset says how many are missing. */
  #addDropEvent(): void {
    if (this.#dropsWithoutEvent === 0 || this.#isFailing || this.#giveUp.signal.aborted) return
    const count = this.#dropsWithoutEvent
    const line = JSON.stringify({
      timestamp: new Date().toISOString(),
      level: 'warn',
      message: `${count} log events were dropped before they reached Dendro`,
      dropped_events: count,
    })
    if (this.#queue.add({ line, bytes: Buffer.byteLength(line) + 1 })) this.#dropsWithoutEvent = 0
  }

  #report(message: string): void {
    callSafely(() => this.#options.onError(new Error(message)))
  }
}

/** The callbacks of the application must not break delivery. */
function callSafely(call: () => void): void {
  try {
    call()
  } catch (thrown) {
    process.emitWarning(`dendro: a callback threw ${String(thrown)}`)
  }
}
