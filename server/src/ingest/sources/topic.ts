import { randomUUID } from 'node:crypto'
import type { KafkaOrigin } from '@dendro/api'
import type { Consumer, Message, MessagesStream } from '@platformatic/kafka'
import { kafkaSettings } from '../../kafka/access.ts'
import { kafkaOptions, kafkaTrouble, loadKafka } from '../../kafka/connection.ts'
import {
  type ActiveSource,
  addSourceCounts,
  advancePosition,
  insertPosition,
  movePosition,
  noteSourceCheck,
  openOriginSecrets,
  planPosition,
  type SourcePosition,
  selectPositions,
} from '../../resources/data/sources/sources.ts'
import type { Pair } from '../batch.ts'
import { kafka } from '../receivers/kafka/kafka.ts'
import { packMessages, type TopicMessage } from '../receivers/kafka/messages.ts'
import { PositionMoved } from './content-batches.ts'
import { type SourceWorld, storeSourceBatch } from './post.ts'

type TopicSource = ActiveSource & { readonly origin: KafkaOrigin }
type TopicDetails = { readonly topic_id: string }
type TopicPosition = SourcePosition<TopicDetails>
type Received = Message<Buffer, Buffer, Buffer, Buffer>

const BATCH_BYTES = 2 * 2 ** 20
const BATCH_MESSAGES = 10_000
/** The messages that wait in memory; beyond it nothing more is fetched. */
const QUEUE_BYTES_MAX = 4 * 2 ** 20
/** Bounds the messages of all topics of a process together; beyond it each has few. */
const QUEUED_BYTES_MAX = 64 * 2 ** 20
const PLANNED_WAIT_MS = 60_000
const GAP_WAIT_MS = 15_000
/** A topic with messages of which nothing is read for this long is opened again. */
const STALLED_MS = 20_000
const MESSAGE_COST_BYTES = 200
const STEP_MS = 5_000
/** How long a batch waits to fill. */
const GATHER_MS = 300
const IDLE_MS = 200
const COUNT_EVERY_MS = 5_000
const SESSION_MS = 10_000
const FETCH_WAIT_MS = 500
const FETCH_BYTES = 2 ** 20
const HIGH_WATER_MESSAGES = 256

/** The messages of a partition that wait, with the offset from which on others are new. */
type PartitionQueue = {
  messages: Received[]
  next: bigint
  row: TopicPosition | undefined
  waitsSinceMs?: number | undefined
  gapSinceMs?: number | undefined
}

/**
 * Reads a topic as a member of a consumer group, which shares its partitions among the processes. Offsets are committed after the messages are durable.
 * What decides is the position in our own store: the group may send messages again.
 */
export class TopicReader {
  readonly #world: SourceWorld
  readonly #source: TopicSource
  #opened: { consumer: Consumer; stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>; topicId: string } | undefined
  readonly #queues = new Map<number, PartitionQueue>()
  #bytes = 0
  #failure: unknown
  #countedMs = Number.NEGATIVE_INFINITY
  #stored = -1
  #storedMs = 0

  constructor(world: SourceWorld, source: TopicSource) {
    this.#world = world
    this.#source = source
  }

  async step(signal: AbortSignal): Promise<{ againInMs: number }> {
    const { clock } = this.#world
    const untilMs = clock.monotonicMs() + STEP_MS
    try {
      await this.#open()
      await this.#count()
      if (this.#bytes === 0) await clock.sleep(GATHER_MS, signal)
      while (this.#bytes > 0 && clock.monotonicMs() < untilMs) {
        if (this.#bytes < BATCH_BYTES) await clock.sleep(GATHER_MS, signal)
        for (const [partition, queue] of [...this.#queues]) if (queue.messages.length > 0) await this.#store(partition, queue, signal)
      }
      if (!this.#isFull) this.#opened?.stream.resume()
      if (this.#failure) throw kafkaTrouble(this.#failure)
      return { againInMs: IDLE_MS }
    } catch (thrown) {
      if (this.#failure && !signal.aborted) throw kafkaTrouble(this.#failure)
      throw thrown
    }
  }

  async close(): Promise<void> {
    this.#keepOnly([])
    await this.#opened?.consumer.close(true).catch(() => undefined)
  }

  async #open(): Promise<void> {
    if (this.#opened) return
    const { outgoing, meta } = this.#world
    const { origin, id } = this.#source
    const { Consumer } = await loadKafka()
    const options = await kafkaOptions(outgoing, kafkaSettings(origin, (await openOriginSecrets(this.#world, meta, this.#source)).password))
    const consumer = new Consumer({ ...options, groupId: origin.group ?? `dendro-${id}`, autocommit: false })
    try {
      const { topics } = await consumer.metadata({ topics: [origin.topic] })
      const topicId = topics.get(origin.topic)?.id ?? ''
      const stream = await consumer.consume({
        topics: [origin.topic],
        mode: 'committed',
        fallbackMode: origin.start === 'END' ? 'latest' : 'earliest',
        autocommit: false,
        sessionTimeout: SESSION_MS,
        heartbeatInterval: SESSION_MS / 10,
        maxWaitTime: FETCH_WAIT_MS,
        maxBytes: FETCH_BYTES,
        highWaterMark: HIGH_WATER_MESSAGES,
      })
      this.#opened = { consumer, stream, topicId }
      consumer.on('consumer:group:join', ({ assignments = [] }) => this.#keepOnly(assignments.flatMap(({ partitions }) => partitions)))
      stream.on('data', (message) => this.#take(message))
      stream.on('error', (cause) => {
        this.#failure = cause
      })
      consumer.on('client:broker:failed', () => undefined)
    } catch (thrown) {
      await consumer.close(true).catch(() => undefined)
      throw kafkaTrouble(thrown)
    }
  }

  get #isFull(): boolean {
    return this.#bytes >= QUEUE_BYTES_MAX || (this.#bytes > 0 && this.#world.queued.bytes >= QUEUED_BYTES_MAX)
  }

  #addBytes(bytes: number): void {
    this.#bytes += bytes
    this.#world.queued.bytes += bytes
  }

  /** Forgets the partitions that another process reads now. */
  #keepOnly(partitions: readonly number[]): void {
    for (const [partition, { messages }] of this.#queues) {
      if (partitions.includes(partition)) continue
      this.#queues.delete(partition)
      for (const message of messages) this.#addBytes(-costOf(message))
    }
  }

  #take(message: Received): void {
    const queue = this.#queues.get(message.partition) ?? { messages: [], next: 0n, row: undefined }
    this.#queues.set(message.partition, queue)
    // The stream has begun again at an earlier offset: what waits comes again.
    if (message.offset < queue.next) {
      for (const one of queue.messages) this.#addBytes(-costOf(one))
      queue.messages = []
    }
    queue.messages.push(message)
    queue.next = message.offset + 1n
    this.#addBytes(costOf(message))
    if (this.#isFull) this.#opened?.stream.pause()
  }

  /** Stores the next batch of a partition. */
  async #store(partition: number, queue: PartitionQueue, signal: AbortSignal): Promise<void> {
    const { clock } = this.#world
    queue.row ??= await this.#positionOf(partition, Number(queue.messages[0]?.offset ?? 0n))
    let row = queue.row
    this.#drop(queue, row.position)
    const isRepeat = row.planned_to !== null
    const sinceMs = row.planned_at === null ? undefined : Math.min(row.planned_at, clock.nowMs())
    // Messages of an earlier assignment may come before the stream begins again where the group is.
    const nowMs = clock.monotonicMs()
    queue.gapSinceMs = (queue.messages[0]?.offset ?? 0n) > BigInt(row.position) ? (queue.gapSinceMs ?? nowMs) : undefined
    if (queue.gapSinceMs !== undefined && nowMs - queue.gapSinceMs < GAP_WAIT_MS) return
    if (isRepeat && !this.#hasPlanned(queue, row.planned_to ?? 0)) return
    let count = isRepeat ? countBelow(queue.messages, row.planned_to ?? 0) : nextBatch(queue.messages)
    if (count === 0 && !isRepeat) return
    let to = isRepeat ? (row.planned_to ?? 0) : endOfMessages(queue.messages, count)
    const all = queue.messages.slice(0, count)
    if (!isRepeat) row = await this.#plan(row, to)
    for (let isWhole = false; ; ) {
      signal.throwIfAborted()
      const messages = all.slice(0, count)
      const key = `${this.#source.id}/${row.id}/${row.position}-${to}`
      const body = packMessages(messages.map(messageOf))
      const post = { parser: kafka, query: { format: this.#source.origin.format }, body, key, sinceMs, events: count, isWhole }
      const end = count === 0 ? NOTHING : await storeSourceBatch(this.#world, this.#source, post)
      if (end.kind === 'stored') {
        queue.row = row
        await this.#advance(partition, queue, { ...end, to, bytes: messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0) })
        this.#drop(queue, to)
        return void (await this.#commit(partition, to))
      }
      isWhole = count === 1
      if (isWhole) continue
      count = Math.ceil(count / 2)
      to = endOfMessages(messages, count)
      row = await this.#plan(row, to)
    }
  }

  async #plan(row: TopicPosition, to: number): Promise<TopicPosition> {
    const nowMs = this.#world.clock.nowMs()
    const plan = { to, nowMs, details: row.details, waiting: 0 }
    if ((await planPosition(this.#world.meta, this.#source.id, row, plan)) === 0) throw new PositionMoved()
    return { ...row, planned_to: to, planned_at: nowMs }
  }

  async #advance(
    partition: number,
    queue: PartitionQueue,
    stored: { events: number; refused: number; bytes: number; to: number },
  ): Promise<void> {
    const { meta, clock } = this.#world
    const { row } = queue
    if (!row) return
    const { id, org_id } = this.#source
    const nowMs = clock.nowMs()
    await meta.write(org_id, async (tx) => {
      const end = { nowMs, details: row.details, waiting: 0 }
      if ((await advancePosition(tx, id, row, stored.to, end)) === 0) throw new PositionMoved(`${partition}`)
      await addSourceCounts(tx, id, stored, nowMs)
    })
    queue.row = { ...row, position: stored.to, planned_to: null, planned_at: null }
  }

  /**
   * Whether all messages of a planned batch are here. Offsets may have gaps, so that a message beyond the end shows that no other one is to come. Where
   * none comes for a long time, the cluster has deleted the last ones.
   */
  #hasPlanned(queue: PartitionQueue, to: number): boolean {
    const nowMs = this.#world.clock.monotonicMs()
    if (this.#isFull) queue.waitsSinceMs = undefined
    if ((queue.messages.at(-1)?.offset ?? 0n) >= BigInt(to) - 1n) return true
    queue.waitsSinceMs ??= nowMs
    return !this.#isFull && nowMs - queue.waitsSinceMs > PLANNED_WAIT_MS
  }

  #drop(queue: PartitionQueue, below: number): void {
    while (queue.messages[0] && queue.messages[0].offset < BigInt(below)) {
      const message = queue.messages.shift()
      if (message) this.#addBytes(-costOf(message))
    }
  }

  async #positionOf(partition: number, first: number): Promise<TopicPosition> {
    const { meta, clock } = this.#world
    const { id, org_id, origin } = this.#source
    const part = `${origin.topic}/${partition}`
    const topicId = this.#opened?.topicId ?? ''
    const known = (await selectPositions<TopicDetails>(meta, id)).find((row) => row.part === part)
    if (known && known.details.topic_id === topicId) return known
    // The topic was deleted and made again: its offsets mean other messages.
    if (known) await movePosition(meta, id, known.id, null)
    const row: TopicPosition = {
      id: randomUUID(),
      part,
      position: first,
      planned_to: null,
      planned_at: null,
      details: { topic_id: topicId },
    }
    if ((await insertPosition(meta, { org_id, source_id: id }, row, clock.nowMs())) === 0) throw new PositionMoved()
    return row
  }

  /** A commit that fails is no matter: our own position counts. */
  async #commit(partition: number, to: number): Promise<void> {
    const offset = { topic: this.#source.origin.topic, partition, offset: BigInt(to), leaderEpoch: -1 }
    await this.#opened?.consumer.commit({ offsets: [offset] }).catch((err: unknown) => {
      this.#world.log.debug({ err, source_id: this.#source.id }, 'an offset could not be committed')
    })
  }

  /** Notes now and then how many messages wait. */
  async #count(): Promise<void> {
    const { meta, clock } = this.#world
    if (!this.#opened || clock.monotonicMs() - this.#countedMs < COUNT_EVERY_MS) return
    this.#countedMs = clock.monotonicMs()
    const { topic } = this.#source.origin
    const [ends, rows] = await Promise.all([
      this.#opened.consumer.listOffsets({ topics: [topic] }),
      selectPositions<TopicDetails>(meta, this.#source.id),
    ]).catch((cause) => {
      throw kafkaTrouble(cause)
    })
    const waiting = (ends.get(topic) ?? []).reduce((sum, end, partition) => {
      const row = rows.find(({ part }) => part === `${topic}/${partition}`)
      return sum + (row ? Math.max(0, Number(end) - row.position) : 0)
    }, 0)
    const stored = rows.reduce((sum, { position }) => sum + position, 0)
    if (waiting === 0 || stored !== this.#stored) this.#storedMs = clock.monotonicMs()
    this.#stored = stored
    const isStalled = clock.monotonicMs() - this.#storedMs > STALLED_MS
    // Offsets without a message, such as those of transactions, wait for ever: it is opened again once.
    if (isStalled && this.#world.queued.reopenedAt.get(this.#source.id) !== stored) {
      this.#world.queued.reopenedAt.set(this.#source.id, stored)
      throw new PositionMoved()
    }
    await noteSourceCheck(meta, this.#source.id, { waiting, failure: null, nowMs: clock.nowMs() })
  }
}

const countBelow = (messages: readonly Received[], to: number): number => messages.filter(({ offset }) => offset < BigInt(to)).length

const NOTHING = { kind: 'stored', events: 0, refused: 0 } as const

const costOf = ({ value, key }: Received): number => (value?.length ?? 0) + (key?.length ?? 0) + MESSAGE_COST_BYTES

const endOfMessages = (messages: readonly Received[], count: number): number => Number((messages[count - 1]?.offset ?? -1n) + 1n)

function nextBatch(messages: readonly Received[]): number {
  let bytes = 0
  let count = 0
  for (const message of messages) {
    bytes += costOf(message)
    if (count > 0 && (bytes > BATCH_BYTES || count >= BATCH_MESSAGES)) break
    count += 1
  }
  return count
}

const HEADERS_MAX = 50
const ATTRIBUTE_BYTES_MAX = 1024

function messageOf({ topic, partition, offset, timestamp, key, value, headers }: Received): TopicMessage {
  const attributes: Pair[] = [
    ['$kafka.topic', topic],
    ['$kafka.partition', String(partition)],
    ['$kafka.offset', String(offset)],
    ['$kafka.timestamp', timeOf(timestamp)],
  ]
  if (key && key.length > 0) attributes.push(['$kafka.key', textOf(key)])
  for (const [name, text] of [...headers].slice(0, HEADERS_MAX)) attributes.push([`$kafka.header.${textOf(name)}`, textOf(text)])
  return { value: value ?? undefined, attributes }
}

const textOf = (bytes: Buffer | null | undefined): string =>
  (bytes ?? Buffer.alloc(0)).subarray(0, ATTRIBUTE_BYTES_MAX).toString('utf8').replaceAll('\0', '\ufffd')

const timeOf = (timestamp: bigint): string => {
  const time = new Date(Number(timestamp))
  return Number.isNaN(time.getTime()) ? String(timestamp) : time.toISOString()
}
