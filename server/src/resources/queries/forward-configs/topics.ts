import type { ForwardConfig, ForwardDestination } from '@dendro/api'
import { kafkaSettings } from '../../../kafka/access.ts'
import { checkTopic, kafkaOptions, kafkaTrouble, loadKafka } from '../../../kafka/connection.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import type { DestinationSecrets } from './destinations.ts'
import type { PayloadPart } from './payload.ts'

type KafkaDestination = Extract<ForwardDestination, { destination_type: 'KAFKA' }>
type TopicWorld = Pick<World, 'outgoing'>

/** Messages are sent in batches below the size that brokers accept by default. */
const BATCH_BYTES = 800_000
const ALL_REPLICAS = -1
export const TOPIC_PLACEHOLDERS: ReadonlySet<string> = new Set(['collection', 'dataset'])

/** The topic of a dataset. Characters that names of topics cannot have become underscores. */
export const topicOf = (template: string, { collection, dataset }: Pick<DatasetRow, 'collection' | 'dataset'>): string => {
  const values = new Map(Object.entries({ collection, dataset }))
  return template
    .replaceAll(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 249)
}

type Message = { topic: string; key: Buffer; value: Buffer; headers: Map<Buffer, Buffer> }

/** One message for each event, keyed by its dataset, so that the events of a dataset stay in order. Its id is the same in every repeat. */
export function* messagesOf(
  { id, destination }: { id: string; destination: KafkaDestination },
  datasets: ReadonlyMap<string, PayloadPart>,
  places: ReadonlyMap<string, DatasetRow>,
): Generator<Message> {
  for (const { logId, lines, numbers } of datasets.values()) {
    const place = places.get(logId)
    if (!place) continue
    const key = Buffer.from(`${place.collection}.${place.dataset}`)
    const topic = topicOf(destination.topic, place)
    for (const [at, line] of lines.entries()) {
      yield {
        topic,
        key,
        value: Buffer.from(line.replace(/\n$/, '')),
        headers: new Map([[ID_HEADER, Buffer.from(`${id}-${numbers[at]}`)]]),
      }
    }
  }
}

const ID_HEADER = Buffer.from('dendro-event-id')

const compressions = { ZSTD: 'zstd', GZIP: 'gzip', NONE: 'none' } as const satisfies Record<ForwardConfig['compression'], string>

/** Sends messages in their order; all replicas have confirmed them when it returns. Throws a DeliveryError. */
export async function sendMessages(
  { outgoing }: TopicWorld,
  destination: KafkaDestination,
  secrets: DestinationSecrets,
  { messages, compression, signal }: { messages: Iterable<Message>; compression: ForwardConfig['compression']; signal: AbortSignal },
): Promise<void> {
  const { Producer } = await loadKafka()
  const producer = new Producer(await kafkaOptions(outgoing, kafkaSettings(destination, secrets.password)))
  const send = async (batch: Message[]): Promise<void> => {
    signal.throwIfAborted()
    if (batch.length > 0) await producer.send({ messages: batch, acks: ALL_REPLICAS, compression: compressions[compression] })
  }
  try {
    let batch: Message[] = []
    let bytes = 0
    for (const message of messages) {
      if (bytes > 0 && bytes + message.value.length > BATCH_BYTES) {
        await send(batch)
        batch = []
        bytes = 0
      }
      batch.push(message)
      bytes += message.value.length
    }
    await send(batch)
  } catch (thrown) {
    if (signal.aborted) throw thrown
    throw kafkaTrouble(thrown)
  } finally {
    await producer.close().catch(() => undefined)
  }
}

/** Looks for the topic if its name is fixed. Throws a DeliveryError. */
export const testTopic = ({ outgoing }: TopicWorld, destination: KafkaDestination, secrets: DestinationSecrets): Promise<void> =>
  checkTopic(outgoing, kafkaSettings(destination, secrets.password), destination.topic.includes('{') ? undefined : destination.topic)
